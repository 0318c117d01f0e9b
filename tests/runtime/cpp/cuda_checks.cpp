// Checks of CudaAllocator that hold on a GPU and on the test double alike.
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "cases.h"
#include "cuda_library.h"
#include "placewire/runtime/buffers.h"

namespace {

using cases::cuda_allocator;
using cases::cuda_function;
using cases::CudaStream;
using cases::is_error;
using placewire::CudaStreamScope;
using placewire::Device;
using placewire::DeviceIndex;
using placewire::DeviceMemoryBuffer;
using placewire::DeviceType;
using placewire::ErrorCode;

constexpr std::size_t kSmall = 4096;
constexpr std::size_t kLarge = (std::size_t{1} << 20) + 4096;  // above what is staged

using Bytes = std::vector<std::uint8_t>;

Bytes pattern(std::size_t nbytes, unsigned seed) {
  Bytes bytes(nbytes);
  for (std::size_t place = 0; place < nbytes; ++place) {
    bytes[place] = static_cast<std::uint8_t>((place * 7 + seed) % 251);
  }
  return bytes;
}

/// Memory on a device, freed in the end.
class Block {
 public:
  Block(placewire::CudaAllocator& allocator, std::size_t nbytes, DeviceIndex index = 0)
      : allocator_(allocator), index_(index), pointer_(allocator.allocate(nbytes, index).value()) {}
  ~Block() { CHECK(allocator_.deallocate(pointer_, index_).ok()); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  [[nodiscard]] void* get() const { return pointer_; }

 private:
  placewire::CudaAllocator& allocator_;
  DeviceIndex index_;
  void* pointer_;
};

bool holds(placewire::CudaAllocator& allocator, const Block& block, const Bytes& expected,
           DeviceIndex index = 0) {
  Bytes received(expected.size());
  CHECK(allocator.copy_device_to_host(received.data(), block.get(), received.size(), index).ok());
  return received == expected;
}

int current_device(const placewire::CudaAllocator& allocator) {
  int index = -1;
  CHECK(cuda_function<int(int*)>(allocator, "cudaGetDevice")(&index) == 0);
  return index;
}

void bytes_go_to_the_device_and_back() {
  const auto allocator = cuda_allocator();
  for (const std::size_t nbytes : {std::size_t{1}, kSmall, kLarge}) {
    const Block block(*allocator, nbytes);
    const Bytes sent = pattern(nbytes, 1);
    CHECK(allocator->copy_host_to_device(block.get(), sent.data(), nbytes, 0).ok());
    CHECK(holds(*allocator, block, sent));
  }
}

void bytes_go_through_a_callers_stream() {
  const auto allocator = cuda_allocator();
  const CudaStream stream(*allocator, 0);
  const CudaStreamScope scope(stream.get(), 0);
  for (const std::size_t nbytes : {std::size_t{1}, kSmall, kLarge}) {
    const Block block(*allocator, nbytes);
    const Bytes sent = pattern(nbytes, 2);
    CHECK(allocator->copy_host_to_device(block.get(), sent.data(), nbytes, 0).ok());
    CHECK(holds(*allocator, block, sent));
  }
}

void the_source_may_be_reused_when_a_copy_on_a_stream_returns() {
  const auto allocator = cuda_allocator();
  const CudaStream stream(*allocator, 0);
  const CudaStreamScope scope(stream.get(), 0);
  for (const std::size_t nbytes : {kSmall, kLarge}) {
    const Block block(*allocator, nbytes);
    Bytes source = pattern(nbytes, 3);
    const Bytes sent = source;
    CHECK(allocator->copy_host_to_device(block.get(), source.data(), nbytes, 0).ok());
    source.assign(nbytes, 0xee);
    CHECK(holds(*allocator, block, sent));
  }
}

void many_copies_on_a_stream_keep_their_bytes() {
  const auto allocator = cuda_allocator();
  const CudaStream stream(*allocator, 0);
  const CudaStreamScope scope(stream.get(), 0);
  std::vector<std::unique_ptr<Block>> blocks;
  for (unsigned number = 0; number < 20; ++number) {  // more than there are staging buffers
    blocks.push_back(std::make_unique<Block>(*allocator, kSmall));
    const Bytes sent = pattern(kSmall, number);
    CHECK(allocator->copy_host_to_device(blocks.back()->get(), sent.data(), kSmall, 0).ok());
  }
  for (unsigned number = 0; number < 20; ++number) {
    CHECK(holds(*allocator, *blocks[number], pattern(kSmall, number)));
  }
}

void bytes_move_inside_a_device() {
  const auto allocator = cuda_allocator();
  const Block from(*allocator, kSmall);
  const Block to(*allocator, kSmall);
  const Bytes sent = pattern(kSmall, 4);
  CHECK(allocator->copy_host_to_device(from.get(), sent.data(), kSmall, 0).ok());
  CHECK(allocator->copy_device_to_device(to.get(), 0, from.get(), 0, kSmall).ok());
  CHECK(holds(*allocator, to, sent));
}

void copies_on_one_stream_are_in_order() {
  const auto allocator = cuda_allocator();
  const CudaStream stream(*allocator, 0);
  const Block from(*allocator, kSmall);
  const Block to(*allocator, kSmall);
  const Bytes first = pattern(kSmall, 5);
  const Bytes second = pattern(kSmall, 6);
  const CudaStreamScope scope(stream.get(), 0);
  CHECK(allocator->copy_host_to_device(from.get(), first.data(), kSmall, 0).ok());
  CHECK(allocator->copy_device_to_device(to.get(), 0, from.get(), 0, kSmall).ok());
  CHECK(allocator->copy_host_to_device(from.get(), second.data(), kSmall, 0).ok());
  CHECK(holds(*allocator, to, first));
  CHECK(holds(*allocator, from, second));
}

void bytes_move_between_devices() {
  const auto allocator = cuda_allocator(2);
  const Block from(*allocator, kSmall, 0);
  const Block to(*allocator, kSmall, 1);
  const Bytes sent = pattern(kSmall, 7);
  CHECK(allocator->copy_host_to_device(from.get(), sent.data(), kSmall, 0).ok());
  CHECK(allocator->copy_device_to_device(to.get(), 1, from.get(), 0, kSmall).ok());
  CHECK(holds(*allocator, to, sent, 1));
}

void a_copy_between_devices_waits_for_the_streams_of_both() {
  const auto allocator = cuda_allocator(2);
  const CudaStream source_stream(*allocator, 0);
  const CudaStream destination_stream(*allocator, 1);
  const Block from(*allocator, kSmall, 0);
  const Block to(*allocator, kSmall, 1);
  const Bytes first = pattern(kSmall, 8);
  const Bytes second = pattern(kSmall, 9);
  const CudaStreamScope source_scope(source_stream.get(), 0);
  const CudaStreamScope destination_scope(destination_stream.get(), 1);
  CHECK(allocator->copy_host_to_device(from.get(), first.data(), kSmall, 0).ok());
  CHECK(allocator->copy_device_to_device(to.get(), 1, from.get(), 0, kSmall).ok());
  CHECK(allocator->copy_host_to_device(from.get(), second.data(), kSmall, 0).ok());
  CHECK(holds(*allocator, from, second));
  CHECK(holds(*allocator, to, first, 1));
}

void the_current_device_is_restored() {
  const auto allocator = cuda_allocator(2);
  const Bytes sent = pattern(kSmall, 10);
  CHECK(cuda_function<int(int)>(*allocator, "cudaSetDevice")(0) == 0);
  {
    const Block block(*allocator, kSmall, 1);
    CHECK(current_device(*allocator) == 0);
    CHECK(allocator->copy_host_to_device(block.get(), sent.data(), kSmall, 1).ok());
    CHECK(current_device(*allocator) == 0);
    CHECK(holds(*allocator, block, sent, 1));
    CHECK(current_device(*allocator) == 0);
    CHECK(!allocator->allocate(std::numeric_limits<std::size_t>::max() / 2, 1).ok());
    CHECK(current_device(*allocator) == 0);
  }
  CHECK(current_device(*allocator) == 0);
}

void threads_copy_on_streams_of_their_own() {
  const auto allocator = cuda_allocator();
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 4; ++number) {
    threads.emplace_back([&allocator, number] {
      const CudaStream stream(*allocator, 0);
      const CudaStreamScope scope(stream.get(), 0);
      for (unsigned round = 0; round < 20; ++round) {
        const Block block(*allocator, kSmall);
        const Bytes sent = pattern(kSmall, number * 20 + round);
        CHECK(allocator->copy_host_to_device(block.get(), sent.data(), kSmall, 0).ok());
        CHECK(holds(*allocator, block, sent));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

void a_device_tells_what_it_is() {
  const auto found = cuda_allocator()->properties(0).value();
  CHECK(found.architecture.substr(0, 3) == "sm_");
  CHECK(found.memory >= kSmall);
}

void the_youngest_scope_of_a_device_counts() {
  int streams[3] = {};
  CHECK(CudaStreamScope::find(0) == nullptr);
  {
    const CudaStreamScope outer(&streams[0], 0);
    const CudaStreamScope other(&streams[1], 1);
    CHECK(CudaStreamScope::find(0)->stream() == &streams[0]);
    CHECK(CudaStreamScope::find(1)->stream() == &streams[1]);
    {
      const CudaStreamScope inner(&streams[2], 0);
      CHECK(CudaStreamScope::find(0)->stream() == &streams[2]);
      std::thread([] { CHECK(CudaStreamScope::find(0) == nullptr); }).join();
    }
    CHECK(CudaStreamScope::find(0)->stream() == &streams[0]);
    CHECK(CudaStreamScope::find(2) == nullptr);
  }
  CHECK(CudaStreamScope::find(0) == nullptr);
}

void addresses_are_aligned_as_asked() {
  const auto allocator = cuda_allocator();
  for (const std::size_t alignment : {0U, 1U, 16U, 256U}) {
    const auto pointer = allocator->allocate(8, 0, alignment);
    CHECK(pointer.ok() && reinterpret_cast<std::uintptr_t>(pointer.value()) % 256 == 0);
    CHECK(allocator->deallocate(pointer.value(), 0).ok());
  }
  CHECK(is_error(allocator->allocate(8, 0, 512), ErrorCode::NOT_SUPPORTED,
                 "cuda:0: alignment 512 is above the 256 bytes that CUDA gives"));
  CHECK(is_error(allocator->allocate(8, 0, 3), ErrorCode::INVALID_ARGUMENT, "alignment 3"));
}

void too_much_memory_is_an_error_that_leaves_no_trace() {
  const auto allocator = cuda_allocator();
  CHECK(is_error(allocator->allocate(std::numeric_limits<std::size_t>::max() / 2, 0),
                 ErrorCode::MEMORY_ALLOCATION_FAILED, "out of memory (CUDA error 2)"));
  CHECK(cuda_function<int()>(*allocator, "cudaGetLastError")() == 0);
}

void a_device_that_is_not_there_is_named() {
  const auto allocator = cuda_allocator();
  std::uint64_t word = 0;
  const char* const text = "cuda:127 is not there: this machine has ";
  CHECK(is_error(allocator->allocate(8, 127), ErrorCode::NOT_FOUND, text));
  CHECK(is_error(allocator->deallocate(&word, 127), ErrorCode::NOT_FOUND, text));
  CHECK(is_error(allocator->copy_host_to_device(&word, &word, 8, 127), ErrorCode::NOT_FOUND, text));
  CHECK(is_error(allocator->copy_device_to_host(&word, &word, 8, 127), ErrorCode::NOT_FOUND, text));
  CHECK(is_error(allocator->copy_device_to_device(&word, 127, &word, 0, 8), ErrorCode::NOT_FOUND,
                 text));
  CHECK(is_error(allocator->copy_device_to_device(&word, 0, &word, 127, 8), ErrorCode::NOT_FOUND,
                 text));
}

void null_pointers_and_no_bytes_are_settled_before_cuda() {
  const auto allocator = cuda_allocator();
  const auto invalid = ErrorCode::INVALID_ARGUMENT;
  std::uint64_t word = 0;
  CHECK(is_error(allocator->copy_host_to_device(nullptr, &word, 8, 0), invalid, "is null"));
  CHECK(is_error(allocator->copy_host_to_device(&word, nullptr, 8, 0), invalid, "is null"));
  CHECK(is_error(allocator->copy_device_to_host(nullptr, &word, 8, 0), invalid, "is null"));
  CHECK(is_error(allocator->copy_device_to_host(&word, nullptr, 8, 0), invalid, "is null"));
  CHECK(allocator->copy_host_to_device(nullptr, nullptr, 0, 0).ok());
  CHECK(allocator->deallocate(nullptr, 0).ok());
}

void the_registered_allocator_serves_buffers() {
  const auto allocator = cuda_allocator();
  CHECK(placewire::register_cuda_allocator().ok());
  CHECK(is_error(placewire::register_cuda_allocator(), ErrorCode::REGISTRATION_ALREADY_REGISTERED,
                 "cuda"));
  {
    const auto buffer = DeviceMemoryBuffer::create(64, Device{DeviceType::CUDA, 0});
    CHECK(buffer.ok() && buffer.value().data() != nullptr);
  }
  CHECK(placewire::unregister_allocator(DeviceType::CUDA).ok());
}

constexpr std::array kCases = {
    CASE(bytes_go_to_the_device_and_back),
    CASE(bytes_go_through_a_callers_stream),
    CASE(the_source_may_be_reused_when_a_copy_on_a_stream_returns),
    CASE(many_copies_on_a_stream_keep_their_bytes),
    CASE(bytes_move_inside_a_device),
    CASE(copies_on_one_stream_are_in_order),
    CASE(bytes_move_between_devices),
    CASE(a_copy_between_devices_waits_for_the_streams_of_both),
    CASE(the_current_device_is_restored),
    CASE(threads_copy_on_streams_of_their_own),
    CASE(a_device_tells_what_it_is),
    CASE(the_youngest_scope_of_a_device_counts),
    CASE(addresses_are_aligned_as_asked),
    CASE(too_much_memory_is_an_error_that_leaves_no_trace),
    CASE(a_device_that_is_not_there_is_named),
    CASE(null_pointers_and_no_bytes_are_settled_before_cuda),
    CASE(the_registered_allocator_serves_buffers),
};

}  // namespace

int main(int argc, char** argv) { return cases::run(argc, argv, kCases); }
