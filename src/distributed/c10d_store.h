// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <c10/util/intrusive_ptr.h>

#include "trainer/launch/store_client.h"

namespace c10d {
class Store;
}  // namespace c10d

namespace trainer::dist {

/// Wraps the store of rank 0 in the interface that LibTorch's collectives expect.
c10::intrusive_ptr<c10d::Store> as_c10d_store(std::shared_ptr<launch::StoreClient> client);

}  // namespace trainer::dist
