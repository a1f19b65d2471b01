# What `cmake --install` puts down: program, library, headers, CMake package, pkg-config file. The copy can be moved.
install(TARGETS splitcount_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS splitcount EXPORT splitcount_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/splitcount DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(SPLITCOUNT_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/splitcount)
install(EXPORT splitcount_targets NAMESPACE splitcount:: DESTINATION ${SPLITCOUNT_PACKAGE})
configure_package_config_file(tools/splitcount-config.cmake.in ${PROJECT_BINARY_DIR}/splitcount-config.cmake
  INSTALL_DESTINATION ${SPLITCOUNT_PACKAGE})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/splitcount-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/splitcount-config.cmake ${PROJECT_BINARY_DIR}/splitcount-config-version.cmake
  DESTINATION ${SPLITCOUNT_PACKAGE})

cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
  OUTPUT_VARIABLE SPLITCOUNT_PREFIX_FROM_PC)
configure_file(tools/splitcount.pc.in ${PROJECT_BINARY_DIR}/splitcount.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/splitcount.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
