# What a user gets: the program with its data, its page, its manual and its shell completion; and the library with its headers.
# Prebuilt libraries lie in lib/aaco, out of the way of the system's own.
set(CMAKE_INSTALL_LIBDIR lib CACHE STRING "Folder of libraries below the prefix")
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(private_dir lib/aaco)

# What scripts/run_demo.sh builds: the program and its page, no tests.
add_custom_target(aaco_product)
foreach(part aaco aaco_web)
  if(TARGET ${part})
    add_dependencies(aaco_product ${part})
  endif()
endforeach()

# libaaco: every module in one shared library, so that who links it needs none of the foreign parts.
get_property(modules GLOBAL PROPERTY AACO_MODULES)
set(archives)
foreach(module ${modules})
  get_target_property(type ${module} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    list(APPEND archives ${module})
  endif()
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/library.cc CONTENT "// libaaco is made of the modules' archives.\n")
add_library(aaco_library SHARED ${CMAKE_BINARY_DIR}/generated/library.cc)
target_link_libraries(aaco_library PRIVATE -Wl,--whole-archive ${archives} -Wl,--no-whole-archive)
target_include_directories(aaco_library INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include/aaco>)
target_compile_features(aaco_library INTERFACE cxx_std_20)
set_target_properties(aaco_library PROPERTIES OUTPUT_NAME aaco EXPORT_NAME aaco VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  INSTALL_RPATH "$ORIGIN/aaco")
install(TARGETS aaco_library EXPORT aaco_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  NAMELINK_COMPONENT development)
install(EXPORT aaco_targets FILE aaco-targets.cmake NAMESPACE aaco:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/aaco COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/aaco-config.cmake.in ${CMAKE_BINARY_DIR}/generated/aaco-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/aaco PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/aaco-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/aaco-config.cmake ${CMAKE_BINARY_DIR}/generated/aaco-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/aaco COMPONENT development)

# The public headers: those one level deep.
file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/*/*.h)
foreach(header ${headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/src/${header} DESTINATION include/aaco/${folder} COMPONENT development)
endforeach()

# Prebuilt parts: DuckDB is linked, ONNX Runtime is opened at run time.
if(AACO_HAS_DUCKDB)
  install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libduckdb.so DESTINATION ${private_dir} COMPONENT program)
endif()
if(EXISTS ${ONNXRUNTIME_ROOT}/lib/libonnxruntime.so.1)
  install(FILES ${ONNXRUNTIME_ROOT}/lib/libonnxruntime.so.1 DESTINATION ${private_dir} COMPONENT program)
endif()

# Facts, configuration and the page.
foreach(folder data configs)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${folder})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION share/aaco COMPONENT program
      PATTERN CMakeLists.txt EXCLUDE PATTERN "*.cc" EXCLUDE)
  endif()
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/data/calibration/NOTICE DESTINATION share/doc/aaco COMPONENT program)
install(DIRECTORY ${AACO_SHARE_DIR}/web DESTINATION share/aaco COMPONENT program OPTIONAL)

# The program; its manual and completion come from its own options.
if(TARGET aaco)
  set_target_properties(aaco PROPERTIES INSTALL_RPATH "$ORIGIN/../${private_dir}")
  install(TARGETS aaco RUNTIME DESTINATION bin COMPONENT program)
  install(TARGETS aaco-agent RUNTIME DESTINATION bin COMPONENT agent)
  include(${CMAKE_CURRENT_LIST_DIR}/Manual.cmake)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/Package.cmake)
