# Every foreign library behind one target named aaco_part_<name>; a module links the part it owns, PRIVATE.
# What is not there leaves AACO_HAS_<NAME> off, and the owning folder then builds the stub that answers "unsupported".
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

set(AACO_PARTS_DIR "$ENV{XDG_CACHE_HOME}" CACHE INTERNAL "")
if(NOT AACO_PARTS_DIR)
  set(AACO_PARTS_DIR "$ENV{HOME}/.cache" CACHE INTERNAL "")
endif()
set(AACO_PARTS_DIR "${AACO_PARTS_DIR}/aaco/parts" CACHE INTERNAL "")
set(ONNXRUNTIME_ROOT "${AACO_PARTS_DIR}/onnxruntime" CACHE PATH "Folder with include/onnxruntime_c_api.h and lib/")
set(DUCKDB_ROOT "${AACO_PARTS_DIR}/duckdb" CACHE PATH "Folder with include/duckdb.h and lib/libduckdb.so")

function(aaco_part_pkg name module)
  pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
  if(${name}_FOUND)
    add_library(aaco_part_${name} INTERFACE)
    target_link_libraries(aaco_part_${name} INTERFACE PkgConfig::${name})
  endif()
  string(TOUPPER ${name} upper)
  set(AACO_HAS_${upper} ${${name}_FOUND} PARENT_SCOPE)
endfunction()

aaco_part_pkg(fmt fmt)
aaco_part_pkg(yaml yaml-cpp)
aaco_part_pkg(sqlite sqlite3)
aaco_part_pkg(zlib zlib)
aaco_part_pkg(zstd libzstd)
aaco_part_pkg(simdjson simdjson)
aaco_part_pkg(crypto libcrypto)
aaco_part_pkg(httplib cpp-httplib)
aaco_part_pkg(bpf "libbpf;libelf")  # libelf is a part of libbpf
aaco_part_pkg(xgboost xgboost)

# ONNX Runtime is opened at run time: only its C header is needed to build.
find_path(AACO_ORT_INCLUDE onnxruntime_c_api.h HINTS ${ONNXRUNTIME_ROOT}/include
  PATH_SUFFIXES onnxruntime onnxruntime/core/session)
set(AACO_HAS_ORT OFF)
if(AACO_ORT_INCLUDE)
  set(AACO_HAS_ORT ON)
  add_library(aaco_part_ort INTERFACE)
  target_include_directories(aaco_part_ort SYSTEM INTERFACE ${AACO_ORT_INCLUDE})
endif()

find_path(AACO_DUCKDB_INCLUDE duckdb.h HINTS ${DUCKDB_ROOT}/include)
find_library(AACO_DUCKDB_LIBRARY duckdb HINTS ${DUCKDB_ROOT}/lib)
set(AACO_HAS_DUCKDB OFF)
if(AACO_DUCKDB_INCLUDE AND AACO_DUCKDB_LIBRARY)
  set(AACO_HAS_DUCKDB ON)
  # The library lies beside the program, so that build/ and an installation are complete in themselves.
  file(MAKE_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  file(COPY_FILE ${AACO_DUCKDB_LIBRARY} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libduckdb.so ONLY_IF_DIFFERENT)
  add_library(aaco_part_duckdb SHARED IMPORTED GLOBAL)
  set_target_properties(aaco_part_duckdb PROPERTIES
    IMPORTED_LOCATION ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libduckdb.so
    IMPORTED_NO_SONAME ON
    INTERFACE_INCLUDE_DIRECTORIES ${AACO_DUCKDB_INCLUDE})
endif()

# Headers only: writes protocol buffers without descriptors.
find_path(AACO_PROTOZERO_INCLUDE protozero/pbf_writer.hpp)
set(AACO_HAS_PROTOZERO OFF)
if(AACO_PROTOZERO_INCLUDE)
  set(AACO_HAS_PROTOZERO ON)
  add_library(aaco_part_protozero INTERFACE)
  target_include_directories(aaco_part_protozero SYSTEM INTERFACE ${AACO_PROTOZERO_INCLUDE})
endif()

find_package(Protobuf QUIET)
find_package(ONNX QUIET)
set(AACO_HAS_ONNX OFF)
if(ONNX_FOUND AND Protobuf_FOUND)
  set(AACO_HAS_ONNX ON)
  add_library(aaco_part_onnx INTERFACE)
  target_link_libraries(aaco_part_onnx INTERFACE onnx_proto protobuf::libprotobuf)
  target_compile_definitions(aaco_part_onnx INTERFACE ONNX_ML=1 ONNX_NAMESPACE=onnx)
endif()

# Header-only; only the folders that own it see it.
find_path(AACO_EIGEN_INCLUDE Eigen/Core PATH_SUFFIXES eigen3)
set(AACO_HAS_EIGEN OFF)
if(AACO_EIGEN_INCLUDE)
  set(AACO_HAS_EIGEN ON)
  add_library(aaco_part_eigen INTERFACE)
  target_include_directories(aaco_part_eigen SYSTEM INTERFACE ${AACO_EIGEN_INCLUDE})
endif()

# Header-only: Asio (event loop, TLS) and Beast (HTTP). TLS needs OpenSSL's libraries.
aaco_part_pkg(openssl openssl)
find_path(AACO_BEAST_INCLUDE boost/beast/http.hpp)
set(AACO_HAS_BEAST OFF)
if(AACO_BEAST_INCLUDE AND AACO_HAS_OPENSSL)
  set(AACO_HAS_BEAST ON)
  add_library(aaco_part_beast INTERFACE)
  target_include_directories(aaco_part_beast SYSTEM INTERFACE ${AACO_BEAST_INCLUDE})
  target_link_libraries(aaco_part_beast INTERFACE aaco_part_openssl)
endif()

# OpenCV's DNN module, a second engine (src/runner/opencv). Debian's libopencv-dnn-dev has headers and libraries without a package file.
find_path(AACO_OPENCV_INCLUDE opencv2/dnn.hpp PATH_SUFFIXES opencv4)
find_library(AACO_OPENCV_DNN opencv_dnn)
find_library(AACO_OPENCV_CORE opencv_core)
set(AACO_HAS_OPENCV OFF)
if(AACO_OPENCV_INCLUDE AND AACO_OPENCV_DNN AND AACO_OPENCV_CORE)
  set(AACO_HAS_OPENCV ON)
  add_library(aaco_part_opencv INTERFACE)
  target_include_directories(aaco_part_opencv SYSTEM INTERFACE ${AACO_OPENCV_INCLUDE})
  target_link_libraries(aaco_part_opencv INTERFACE ${AACO_OPENCV_DNN} ${AACO_OPENCV_CORE})
endif()
