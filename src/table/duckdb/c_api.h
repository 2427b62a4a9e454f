// SPDX-License-Identifier: Apache-2.0
// The part of DuckDB's C API that is used here, declared by hand after
// https://duckdb.org/docs/stable/clients/c/api, so that nothing of DuckDB is needed to build. These
// functions and layouts are the same in all releases since 1.0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trainer::duckdb {

enum class CState : int { kSuccess = 0, kError = 1 };

struct CChunk;
struct CConfig;
struct CConnection;
struct CDatabase;
struct CPending;
struct CPrepared;
struct CVector;

/// duckdb_result, which is given by value.
struct CResult {
  uint64_t unused_counts[3] = {};
  void* unused_columns = nullptr;
  char* unused_error = nullptr;
  void* internal = nullptr;
};

/// duckdb_string_t: a short text stands in the cell itself.
struct CText {
  static constexpr uint32_t kMaxInside = 12;
  uint32_t length;
  char begin[4];
  union {
    char inside[8];  // goes on behind `begin`
    const char* outside;
  };
};
static_assert(sizeof(CText) == 16 && offsetof(CText, outside) == 8);

/// duckdb_query_progress_type
struct CProgress {
  double percentage;  // -1: not known
  uint64_t rows_done;
  uint64_t rows_in_all;
};

constexpr int kSelectStatement = 1;  // of duckdb_statement_type

/// The functions, each duckdb_<name>.
struct CApi {
  const char* (*library_version)();
  void (*free)(void* memory);

  CState (*open_ext)(const char* path, CDatabase** database, CConfig* config, char** error);
  void (*close)(CDatabase** database);
  CState (*connect)(CDatabase* database, CConnection** connection);
  void (*disconnect)(CConnection** connection);

  CState (*query)(CConnection* connection, const char* sql, CResult* result);
  CProgress (*query_progress)(CConnection* connection);
  CState (*prepare)(CConnection* connection, const char* sql, CPrepared** prepared);
  const char* (*prepare_error)(CPrepared* prepared);
  int (*prepared_statement_type)(CPrepared* prepared);
  void (*destroy_prepare)(CPrepared** prepared);
  CState (*pending_prepared_streaming)(CPrepared* prepared, CPending** pending);
  const char* (*pending_error)(CPending* pending);
  CState (*execute_pending)(CPending* pending, CResult* result);
  void (*destroy_pending)(CPending** pending);

  const char* (*result_error)(CResult* result);
  void (*destroy_result)(CResult* result);
  CChunk* (*fetch_chunk)(CResult result);
  uint64_t (*data_chunk_get_size)(CChunk* chunk);
  CVector* (*data_chunk_get_vector)(CChunk* chunk, uint64_t column);
  void (*destroy_data_chunk)(CChunk** chunk);
  void* (*vector_get_data)(CVector* vector);
  uint64_t* (*vector_get_validity)(CVector* vector);
};

/// The functions of the library, which is opened by the first call and stays. It is the one that
/// TRAINER_DUCKDB_LIBRARY names, or that of scripts/setup.sh, or one that the system finds by its
/// name. Throws Error(kUsage).
const CApi& c_api();

}  // namespace trainer::duckdb
