# What CPack makes of a build tree (scripts/package.sh): the packages trainer, trainer-engine,
# trainer-onnx and trainer-dev of Debian. With TRAINER_STATIC `cmake --install` makes an archive.
if(TRAINER_STATIC)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/package/licenses DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES ${CMAKE_BINARY_DIR}/package/sbom.cdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES ${CMAKE_BINARY_DIR}/package/trainer.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  return()
endif()
string(REPLACE - ~ CPACK_PACKAGE_VERSION ${TRAINER_VERSION})
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# Programs and libraries are in a folder of their own, below which they find each other as they do in the
# build tree: nothing but trainer uses them, and their interface changes with each version.
function(install_private component)
  install(TARGETS ${ARGN} COMPONENT ${component} EXCLUDE_FROM_ALL
          RUNTIME DESTINATION lib/trainer/bin LIBRARY DESTINATION lib/trainer/lib)
endfunction()

# install_made(COMPONENT FILE FOLDER): a file that scripts/package.sh makes.
function(install_made component file folder)
  install(FILES ${CMAKE_BINARY_DIR}/package/${file} DESTINATION ${folder} COMPONENT ${component}
          EXCLUDE_FROM_ALL)
endfunction()

# Completions, configurations and documents of this component are what `make install` installs too.
install_private(core trainer trainer_core)
install_made(core trainer ${CMAKE_INSTALL_BINDIR})
install_made(core trainer.1.gz ${CMAKE_INSTALL_MANDIR}/man1)
install_made(core changelog.gz ${CMAKE_INSTALL_DOCDIR})
install_made(core sbom.cdx.json ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${CMAKE_BINARY_DIR}/package/licenses DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT core EXCLUDE_FROM_ALL)
# Debian's zsh looks here, not in site-functions.
install(FILES src/cli/completion/trainer.zsh RENAME _trainer COMPONENT core EXCLUDE_FROM_ALL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES src/debian_copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT core
        EXCLUDE_FROM_ALL)
set(CPACK_COMPONENT_CORE_DESCRIPTION "Applies, judges and exports models of tables
Multilayer perceptrons that were trained by trainer predict the rows of
tables, are evaluated, explained and compared, and exported. To train them,
install trainer-engine; to export them as ONNX files, trainer-onnx.")
set(CPACK_DEBIAN_CORE_PACKAGE_SUGGESTS "trainer-engine, trainer-onnx")

if(TRAINER_ENGINE AND NOT TRAINER_LIBTORCH)  # a wheel is no package that another could need
  install_private(engine trainer_engine)
  if(TRAINER_BENCH)
    install_private(engine bench_devices)
  endif()
  set(CPACK_COMPONENT_ENGINE_DESCRIPTION "Trains models of tables and images
Adds the training of multilayer perceptrons to trainer, by LibTorch: exact
resume, the same bits for any number of threads and processes, search and
cross-validation. /usr/lib/trainer/bin/bench_devices measures the devices.")
  set(CPACK_DEBIAN_ENGINE_PACKAGE_RECOMMENDS libopenblas0-openmp)
endif()

if(TRAINER_ONNX)
  install_private(onnx trainer_onnx)
  set(CPACK_COMPONENT_ONNX_DESCRIPTION "Exports models of trainer as ONNX files
Adds the format onnx to trainer export, which checks what it writes, with
ONNX Runtime too where that is installed.")
endif()

# The headers of the layers in trainer_core, and what find_package(trainer) reads.
get_directory_property(headers DIRECTORY src DEFINITION core_layers)
list(TRANSFORM headers PREPEND include/trainer/)
install(DIRECTORY ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trainer COMPONENT dev
        EXCLUDE_FROM_ALL)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/trainerConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES src/trainerConfig.cmake ${CMAKE_BINARY_DIR}/trainerConfigVersion.cmake
        DESTINATION lib/cmake/trainer COMPONENT dev EXCLUDE_FROM_ALL)
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers to apply models of trainer in C++ programs
For programs that load models and predict, with find_package(trainer) of
CMake. The interface may change with each version.")
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libfmt-dev, nlohmann-json3-dev")

# The documents of the other packages are those of trainer, on whose version they depend.
set(CPACK_COMPONENTS_ALL core)
foreach(part engine onnx dev)
  string(TOUPPER ${part} name)
  if(CPACK_COMPONENT_${name}_DESCRIPTION)
    list(APPEND CPACK_COMPONENTS_ALL ${part})
    install_made(${part} trainer-${part} ${CMAKE_INSTALL_DATADIR}/doc)
    set(CPACK_DEBIAN_${name}_PACKAGE_NAME trainer-${part})
    list(APPEND CPACK_DEBIAN_${name}_PACKAGE_DEPENDS "trainer (= ${CPACK_PACKAGE_VERSION})")
    list(JOIN CPACK_DEBIAN_${name}_PACKAGE_DEPENDS ", " CPACK_DEBIAN_${name}_PACKAGE_DEPENDS)
  endif()
endforeach()
set(CPACK_DEBIAN_CORE_PACKAGE_NAME trainer)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # else it comes before those of the packages
set(CPACK_DEBIAN_PACKAGE_SOURCE trainer)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
include(CPack)
