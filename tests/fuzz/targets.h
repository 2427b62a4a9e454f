// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

/// What the program does with bytes from anybody, as functions of these bytes: for libFuzzer
/// (fuzzer.cpp) and for the files of corpus/ (replay_test.cpp). To read them is right, and so is to
/// refuse them with an Error that says why. All else is a fault: another exception, a crash, a
/// message of a sanitizer, an end that does not come.
namespace trainer::fuzz {

struct Target {
  const char* name;  // and the folder of its files in corpus/
  void (*run)(std::string_view bytes);
  std::string (*make_seed)() = nullptr;  // what the program itself writes, where that is bytes
};

/// All of them, by name.
std::span<const Target> targets();

// Of tables.cpp.
void fuzz_csv(std::string_view bytes);
void fuzz_sqlite(std::string_view bytes);
void fuzz_duckdb(std::string_view bytes);
void fuzz_packed(std::string_view bytes);
void fuzz_npy(std::string_view bytes);
void fuzz_idx(std::string_view bytes);
void fuzz_dates(std::string_view bytes);

// Of models.cpp.
void fuzz_zip(std::string_view bytes);
void fuzz_pickle(std::string_view bytes);
void fuzz_safetensors(std::string_view bytes);
void fuzz_cache(std::string_view bytes);

std::string zip_seed();
std::string pickle_seed();
std::string safetensors_seed();
std::string cache_seed();

// Of runs.cpp.
void fuzz_run_folder(std::string_view bytes);
void fuzz_run_index(std::string_view bytes);
void fuzz_run_filter(std::string_view bytes);
void fuzz_tensorboard(std::string_view bytes);

// Of texts.cpp.
void fuzz_yaml(std::string_view bytes);
void fuzz_command_line(std::string_view bytes);

// Of processes.cpp.
void fuzz_launcher(std::string_view bytes);
void fuzz_pmi(std::string_view bytes);
void fuzz_store(std::string_view bytes);

}  // namespace trainer::fuzz
