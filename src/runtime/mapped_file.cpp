// Maps files into memory, on POSIX systems.
#include "mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "text.h"

namespace placewire {
namespace {

/// A file descriptor with an owner.
class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) {
      close(number_);
    }
  }

  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

/// Mapped pages with an owner.
class Mapping {
 public:
  Mapping(void* data, std::size_t size) noexcept : data_(data), size_(size) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { munmap(data_, size_); }

 private:
  void* data_;
  std::size_t size_;
};

Error cannot_read(const std::string& path, int code) {
  return {ErrorCode::ACCESS_FAILED, "cannot read " + quoted(path) + ": " + std::strerror(code)};
}

}  // namespace

Result<OwnedBytes> map_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (file.number() < 0 || fstat(file.number(), &status) != 0) {
    return cannot_read(path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{ErrorCode::ACCESS_FAILED,
                 "cannot read " + quoted(path) +
                     (S_ISDIR(status.st_mode)
                          ? ": it is a folder; name a .pte file in it"
                          : ": it is no regular file, so it cannot be mapped; read it first, and "
                            "load its bytes")};
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    return OwnedBytes{};
  }
  // Writable, because a copy of a page costs nobody anything, and a kernel that writes a constant
  // against the rules then damages only this process's copy of it.
  void* const data =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.number(), 0);
  if (data == MAP_FAILED) {
    return cannot_read(path, errno);
  }
  std::shared_ptr<const void> owner;
  try {
    owner = std::make_shared<const Mapping>(data, size);
  } catch (...) {
    munmap(data, size);
    throw;
  }
  return OwnedBytes{schema::Bytes(data, size), std::move(owner)};
}

}  // namespace placewire
