// SPDX-License-Identifier: Apache-2.0
#include "fuzz/targets.h"

namespace trainer::fuzz {

std::span<const Target> targets() {
  static constexpr Target kTargets[] = {{"cache", fuzz_cache, cache_seed},
                                        {"command_line", fuzz_command_line},
                                        {"csv", fuzz_csv},
                                        {"dates", fuzz_dates},
                                        {"duckdb", fuzz_duckdb},
                                        {"idx", fuzz_idx},
                                        {"launcher", fuzz_launcher},
                                        {"npy", fuzz_npy},
                                        {"packed", fuzz_packed},
                                        {"pickle", fuzz_pickle, pickle_seed},
                                        {"pmi", fuzz_pmi},
                                        {"run_filter", fuzz_run_filter},
                                        {"run_folder", fuzz_run_folder},
                                        {"run_index", fuzz_run_index},
                                        {"safetensors", fuzz_safetensors, safetensors_seed},
                                        {"sqlite", fuzz_sqlite},
                                        {"store", fuzz_store},
                                        {"tensorboard", fuzz_tensorboard},
                                        {"yaml", fuzz_yaml},
                                        {"zip", fuzz_zip, zip_seed}};
  return kTargets;
}

}  // namespace trainer::fuzz
