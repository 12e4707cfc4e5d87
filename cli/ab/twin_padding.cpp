// Linked first into assay_twin, and never used: moves the code, the constants and the variables of
// everything behind it by 80 bytes. That is one cache line and a quarter, so loops and tables lie
// differently within their lines, as they do after any edit of any file.
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
