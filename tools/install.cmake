# What `cmake --install` puts down: program, library, headers, CMake package, pkg-config file.
install(TARGETS splitcount_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS splitcount EXPORT splitcount_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/splitcount DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT splitcount_targets NAMESPACE splitcount:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/splitcount)
configure_package_config_file(tools/splitcount-config.cmake.in ${PROJECT_BINARY_DIR}/splitcount-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/splitcount)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/splitcount-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/splitcount-config.cmake ${PROJECT_BINARY_DIR}/splitcount-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/splitcount)
configure_file(tools/splitcount.pc.in ${PROJECT_BINARY_DIR}/splitcount.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/splitcount.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
