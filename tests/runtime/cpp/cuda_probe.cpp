// Prints why there is no CudaAllocator here; that there is one is a failure.
#include "cases.h"
#include "placewire/backends/cuda/cuda_allocator.h"

namespace {

void why_there_is_none() {
  const auto allocator = placewire::CudaAllocator::create();
  const auto status = placewire::register_cuda_allocator();
  if (!CHECK(!allocator.ok() && !status.ok())) {
    return;
  }
  CHECK(allocator.error().message == status.error().message);
  CHECK(allocator.error().code == placewire::ErrorCode::NOT_FOUND);
  std::printf("%s\n", allocator.error().message.c_str());
}

constexpr std::array kCases = {CASE(why_there_is_none)};

}  // namespace

int main(int argc, char** argv) { return cases::run(argc, argv, kCases); }
