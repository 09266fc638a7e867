# What a user of the installed library finds: headers, the library, find_package(usmx).
include(CMakePackageConfigHelpers)
install(TARGETS usmx EXPORT usmxTargets LIBRARY DESTINATION ${USMX_LIBDIR} RUNTIME DESTINATION ${USMX_LIBDIR})
install(DIRECTORY include/usmx ${CMAKE_CURRENT_BINARY_DIR}/include/usmx DESTINATION ${USMX_INCLUDEDIR})
install(EXPORT usmxTargets NAMESPACE usmx:: DESTINATION ${USMX_LIBDIR}/cmake/usmx)
configure_package_config_file(cmake/usmxConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/usmxConfig.cmake
                              INSTALL_DESTINATION ${USMX_LIBDIR}/cmake/usmx)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/usmxConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/usmxConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/usmxConfigVersion.cmake cmake/SyclRuntime.cmake
              cmake/UsmxExtension.cmake
        DESTINATION ${USMX_LIBDIR}/cmake/usmx)
if(SKBUILD)
  # What `-lusmx` finds: a wheel has no symbolic links, so the linker's name is a script of one line.
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/linker/libusmx.so
       CONTENT "/* GNU ld script */\nINPUT(libusmx.so.${PROJECT_VERSION_MAJOR})\n")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/linker/libusmx.so DESTINATION ${USMX_LIBDIR})
  # Read by every Python of the environment when it starts: docs/decisions/0006-finding-the-driver.md.
  install(FILES python/usmx.pth DESTINATION .)
endif()
