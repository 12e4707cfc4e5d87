// Moves the code, the constants and the variables of assay_twin by 80 bytes; linked first and never
// used. 80 bytes are one cache line and a quarter, so loops and tables lie differently within their
// lines, as they do after any edit of any file.
asm(R"(
  .pushsection .text
  .zero 80
  .popsection
  .pushsection .rodata
  .zero 80
  .popsection
  .pushsection .data
  .zero 80
  .popsection
)");
