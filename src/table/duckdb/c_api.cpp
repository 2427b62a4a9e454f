// SPDX-License-Identifier: Apache-2.0
#include "table/duckdb/c_api.h"

#include <dlfcn.h>

#include <string>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/optional_library.h"

namespace trainer::duckdb {
namespace {

const OptionalLibrary kLibrary = {"TRAINER_DUCKDB_LIBRARY", "duckdb"};
#ifdef __APPLE__
constexpr const char* kHowToInstall = "brew install duckdb";
#else
constexpr const char* kHowToInstall = "scripts/setup.sh duckdb";
#endif

[[noreturn]] void fail(const std::string& problem) {
  throw Error(
      ErrorKind::kUsage,
      fmt::format("DuckDB is needed to read this: {}; install it with {}, or set {} to the "
                  "path of {}",
                  problem, kHowToInstall, kLibrary.variable, library_file_name(kLibrary.stem)));
}

template <class Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) {
    const auto version =
        reinterpret_cast<const char* (*)()>(dlsym(library, "duckdb_library_version"));
    fail(fmt::format("expected version 1.0 or newer, got {}, which has no {}",
                     version == nullptr ? "another library" : version(), name));
  }
}

CApi open_api() {
  std::string problem;
  void* library = open_library(kLibrary, problem);
  if (library == nullptr) fail(problem);
  CApi api{};
  find(library, "duckdb_library_version", api.library_version);
  find(library, "duckdb_free", api.free);
  find(library, "duckdb_open_ext", api.open_ext);
  find(library, "duckdb_close", api.close);
  find(library, "duckdb_connect", api.connect);
  find(library, "duckdb_disconnect", api.disconnect);
  find(library, "duckdb_query", api.query);
  find(library, "duckdb_query_progress", api.query_progress);
  find(library, "duckdb_prepare", api.prepare);
  find(library, "duckdb_prepare_error", api.prepare_error);
  find(library, "duckdb_prepared_statement_type", api.prepared_statement_type);
  find(library, "duckdb_destroy_prepare", api.destroy_prepare);
  find(library, "duckdb_pending_prepared_streaming", api.pending_prepared_streaming);
  find(library, "duckdb_pending_error", api.pending_error);
  find(library, "duckdb_execute_pending", api.execute_pending);
  find(library, "duckdb_destroy_pending", api.destroy_pending);
  find(library, "duckdb_result_error", api.result_error);
  find(library, "duckdb_destroy_result", api.destroy_result);
  find(library, "duckdb_fetch_chunk", api.fetch_chunk);
  find(library, "duckdb_data_chunk_get_size", api.data_chunk_get_size);
  find(library, "duckdb_data_chunk_get_vector", api.data_chunk_get_vector);
  find(library, "duckdb_destroy_data_chunk", api.destroy_data_chunk);
  find(library, "duckdb_vector_get_data", api.vector_get_data);
  find(library, "duckdb_vector_get_validity", api.vector_get_validity);
  return api;
}

}  // namespace

const CApi& c_api() {
  static const CApi api = open_api();
  return api;
}

}  // namespace trainer::duckdb
