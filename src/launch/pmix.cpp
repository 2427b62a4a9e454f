// SPDX-License-Identifier: Apache-2.0
// PMIx, by which the processes of Open MPI's mpirun (4 and 5) talk to it: rank 0 puts its text
// under a key, all ranks wait in a fence, then each gets the value of the key, over machines too.
// Open MPI installs the library; nobody else needs it, so it is opened at run time, and the few
// things used of its stable interface (pmix_common.h of versions 3 to 5) are declared here.
// PMIx_Finalize at the end tells mpirun that the process may end as it likes: without it even a
// good end would be "improper". Nothing can be asked after it.
// The functions block without a limit, so they run in a thread of their own. If the time is over
// that thread is left behind, as nothing can wake it; the process ends soon with the error.
#include "launch/pmix.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace trainer::launch {
namespace {

constexpr const char* kPmixKey = "trainer";
constexpr uint8_t kGlobal = 3;   // PMIX_GLOBAL: for processes of this machine and of others
constexpr uint16_t kString = 3;  // PMIX_STRING

struct Process {  // pmix_proc_t
  std::array<char, 256> name_space;
  uint32_t rank;
};

struct Value {  // pmix_value_t
  uint16_t type;
  union {
    char* string;
    std::array<char, 64> others;  // at least as large as the library's
  };
};

struct Functions {
  int (*init)(Process* self, void* info, size_t infos) = nullptr;
  int (*put)(uint8_t scope, const char* key, Value* value) = nullptr;
  int (*commit)() = nullptr;
  int (*fence)(const Process* processes, size_t count, const void* info, size_t infos) = nullptr;
  int (*get)(const Process* process, const char* key, const void* info, size_t infos,
             Value** value) = nullptr;
  int (*finalize)(const void* info, size_t infos) = nullptr;
  const char* (*error_string)(int status) = nullptr;
};

template <class F>
bool load(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

/// Returns the functions of libpmix, or null pointers if it is not installed. The library stays
/// open, because it cannot be unloaded safely.
Functions open() {
  Functions pmix;
  void* library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
  const bool is_complete =
      library != nullptr && load(library, "PMIx_Init", pmix.init) &&
      load(library, "PMIx_Put", pmix.put) && load(library, "PMIx_Commit", pmix.commit) &&
      load(library, "PMIx_Fence", pmix.fence) && load(library, "PMIx_Get", pmix.get) &&
      load(library, "PMIx_Finalize", pmix.finalize) &&
      load(library, "PMIx_Error_string", pmix.error_string);
  return is_complete ? pmix : Functions{};
}

const Functions& functions() {
  static const Functions pmix = open();
  return pmix;
}

void check(const Place& place, int status, const char* name) {
  if (status == 0) return;
  fail(place, fmt::format("got {} from {}", functions().error_string(status), name),
       "set MASTER_ADDR and MASTER_PORT to an address of rank 0 instead");
}

std::string share(const Place& place, const std::string& own_text) {
  std::string text = own_text;  // PMIx takes a pointer to non-const memory
  const Functions& pmix = functions();
  if (pmix.init == nullptr) {
    fail(place, "got no libpmix.so.2", "set MASTER_ADDR and MASTER_PORT to an address of rank 0");
  }
  Process process{};
  check(place, pmix.init(&process, nullptr, 0), "PMIx_Init");
  if (place.rank == 0) {
    Value value{kString, {text.data()}};
    check(place, pmix.put(kGlobal, kPmixKey, &value), "PMIx_Put");
    check(place, pmix.commit(), "PMIx_Commit");
  }
  check(place, pmix.fence(nullptr, 0, nullptr, 0), "PMIx_Fence");
  process.rank = 0;
  Value* value = nullptr;
  check(place, pmix.get(&process, kPmixKey, nullptr, 0, &value), "PMIx_Get");
  std::string shared = value->string;
  std::free(value->string);
  std::free(value);
  check(place, pmix.finalize(nullptr, 0), "PMIx_Finalize");
  return shared;
}

}  // namespace

bool has_pmix() { return functions().init != nullptr; }

std::string share_by_pmix(const Wait& wait, const std::string& text) {
  std::packaged_task<std::string()> task([place = wait.place, text] { return share(place, text); });
  std::future<std::string> shared = task.get_future();
  std::thread(std::move(task)).detach();
  if (shared.wait_until(wait.end) != std::future_status::ready) {
    fail_late(wait, "the other ranks in PMIx_Fence", "make sure that all ranks start");
  }
  return shared.get();
}

}  // namespace trainer::launch
