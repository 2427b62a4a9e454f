// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/version.h"

#include "build_info.h"  // written at each build by scripts/write_build_info.cmake

namespace trainer {

const BuildInfo& build_info() {
  static const BuildInfo info{TRAINER_VERSION,  TRAINER_GIT_COMMIT,      TRAINER_GIT_DIRTY != 0,
                              TRAINER_DATE,     TRAINER_COMPILER,        TRAINER_BUILD_TYPE,
                              TRAINER_LIBTORCH, TRAINER_SYSTEM_BLAS != 0};
  return info;
}

}  // namespace trainer
