# The relocatable archive: programs, modules and the libraries that they need, to be unpacked anywhere on a machine that
# has glibc and libstdc++ (docs/package.md). `cmake --install` gives the same as a folder.
set(assay_programs assay assay_twin)
foreach(adapter assay_gtest assay_gbench)
  if(TARGET ${adapter})
    list(APPEND assay_programs ${adapter})
  endif()
endforeach()
if(TARGET unit_test)
  # Those that need nothing of the source tree.
  list(APPEND assay_programs unit_test)
  if(TARGET cuda_test)
    list(APPEND assay_programs cuda_test)
  endif()
endif()
# assay_run_path(TARGET FOLDER RUN_PATH): where the target, installed in the folder, looks for its libraries; in the build
# tree also where they were linked. CMake's own way to have two run paths pads that of the build tree with empty entries,
# which the loader takes for the current directory: whoever can write there could plant a library.
function(assay_run_path target folder run_path)
  set_target_properties(${target} PROPERTIES
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON INSTALL_RPATH "${run_path}")
  install(CODE "file(RPATH_SET FILE
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}/$<TARGET_FILE_NAME:${target}>\" NEW_RPATH [[${run_path}]])")
endfunction()

install(TARGETS ${assay_programs} RUNTIME_DEPENDENCY_SET assay_libraries RUNTIME DESTINATION bin)
foreach(program IN LISTS assay_programs)
  assay_run_path(${program} bin "$ORIGIN/../lib")
  # As DT_RPATH, which also holds for the libraries that libraries need; DT_RUNPATH does not.
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
endforeach()
install(TARGETS kernel_host kernel_cheats ${assay_library_kernels} LIBRARY DESTINATION lib/assay)
foreach(module IN ITEMS kernel_host LISTS assay_library_kernels)
  assay_run_path(${module} lib/assay "$ORIGIN/..")
endforeach()
target_link_options(kernel_host PRIVATE -Wl,--disable-new-dtags)
install(DIRECTORY kernels/providers/python DESTINATION lib/assay PATTERN __pycache__ EXCLUDE)
install(FILES kernels/providers/assay_kernel.h kernels/providers/assay_op.h DESTINATION include)
if(assay_with_cuda)
  install(TARGETS assay_cuda LIBRARY DESTINATION lib/assay)
  if(TARGET emulated_cudart)  # never in an archive for users: the preset ci has it
    install(TARGETS emulated_cudart LIBRARY DESTINATION lib)
  endif()
  assay_run_path(assay_cuda lib/assay "")
endif()
if(assay_with_mpi)
  # Not its MPI library: that has to be the one of the launcher.
  install(TARGETS launcher_mpi LIBRARY DESTINATION lib/assay)
  assay_run_path(launcher_mpi lib/assay "")
endif()
if(assay_with_emulate_gpu)
  list(APPEND assay_programs emulate_gpu)
endif()
add_custom_target(installed DEPENDS program ${assay_programs})  # all that `cmake --install` takes
# Not the C library, the C++ library and what belongs to them: they must be those of the machine.
install(RUNTIME_DEPENDENCY_SET assay_libraries
  PRE_EXCLUDE_REGEXES
    "^ld-linux" "^lib(c|m|mvec|dl|rt|pthread|resolv|stdc\\+\\+|gcc_s)\\.so"
  DESTINATION lib)
install(PROGRAMS scripts/gpu-evidence DESTINATION scripts)
install(FILES README.md LICENSE DESTINATION share/doc/assay)
install(DIRECTORY docs DESTINATION share/doc/assay)

set(CPACK_GENERATOR TXZ)
set(CPACK_PACKAGE_FILE_NAME assay-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_ARCHIVE_THREADS 0)  # all cores
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
