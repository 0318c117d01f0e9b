// Loads .pte files: validates them, and finds what they store.
#include "placewire/runtime/program.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "mapped_file.h"
#include "placewire/runtime/validate.h"
#include "text.h"

namespace placewire {
namespace {

namespace program = schema::program;

/// Where the extended header says how far from the start of the file segments begin.
constexpr std::size_t kSegmentBaseAt = 24;
constexpr std::size_t kMagicAt = 8;

/// How far from the start of the file segments begin; 0 for a file without an extended header.
std::uint64_t segment_base(schema::Bytes head) noexcept {
  const std::string_view magic = program::Program::kHeaderMagic;
  if (head.size() < kSegmentBaseAt + sizeof(std::uint64_t) ||
      std::memcmp(head.data() + kMagicAt, magic.data(), magic.size()) != 0) {
    return 0;
  }
  return schema::wire::load<std::uint64_t>(head.data() + kSegmentBaseAt);
}

Error out_of_memory() {
  return {ErrorCode::MEMORY_ALLOCATION_FAILED, "memory ran out while the file was loaded"};
}

/// The Error of a file that the validator refuses: its first error, and how many more there are.
Error refused(const std::vector<Finding>& findings) {
  const auto is_error = [](const Finding& finding) { return finding.level == Level::kError; };
  const auto first = std::find_if(findings.begin(), findings.end(), is_error);
  if (first == findings.end() || first->rule == "OUT_OF_MEMORY") {
    return out_of_memory();
  }
  const auto errors = std::count_if(findings.begin(), findings.end(), is_error);
  std::string text = "the file cannot be loaded: ";
  text.append(first->rule);
  if (!first->path.empty()) {
    text += " at " + first->path;
  }
  if (first->offset) {
    text += " (byte " + std::to_string(*first->offset) + ")";
  }
  text += ": " + first->message;
  if (errors > 1) {
    text += "; and " + std::to_string(errors - 1) + " more: placewire verify lists all";
  }
  return {ErrorCode::INVALID_PROGRAM, text};
}

}  // namespace

Result<std::shared_ptr<const Program>> Program::open(const std::string& path) {
  try {
    Result<OwnedBytes> file = map_file(path);
    if (!file.ok()) {
      return std::move(file).error();
    }
    Result<std::shared_ptr<const Program>> program = load(std::move(file).value());
    if (program.ok()) {
      return program;
    }
    return Error{program.error().code, quoted(path) + ": " + program.error().message};
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

Result<std::shared_ptr<const Program>> Program::load(OwnedBytes file) {
  try {
    const std::size_t size = placewire::head_size(file.bytes);
    std::unique_ptr<std::uint8_t[]> copy;
    if (!file.is_immutable && size != 0) {
      copy.reset(new std::uint8_t[size]);
      std::memcpy(copy.get(), file.bytes.data(), size);
    }
    const schema::Bytes head(copy == nullptr ? file.bytes.data() : copy.get(), size);
    ValidationOptions options;
    options.head_copy = head;
    Validation validation = validate(file.bytes, options);
    if (!validation.is_loadable()) {
      return refused(validation.findings);
    }
    std::shared_ptr<Program> loaded(new Program(std::move(file), std::move(copy), head));
    loaded->warnings_ = std::move(validation.findings);
    return std::shared_ptr<const Program>(std::move(loaded));
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

Program::Program(OwnedBytes file, std::unique_ptr<std::uint8_t[]> head_copy, schema::Bytes head)
    : file_(std::move(file)),
      head_copy_(std::move(head_copy)),
      view_(program::view_program(head)),
      segment_base_(segment_base(head)) {}

Program::~Program() = default;

std::vector<std::string_view> Program::method_names() const {
  std::vector<std::string_view> names;
  for (const program::ExecutionPlan plan : view_.execution_plan()) {
    names.push_back(plan.name());
  }
  return names;
}

Result<MethodMeta> Program::method_meta(std::string_view name) const {
  std::string names;
  for (const program::ExecutionPlan plan : view_.execution_plan()) {
    if (plan.name() == name) {
      return MethodMeta(plan);
    }
    names += (names.empty() ? "" : ", ") + quoted(plan.name());
  }
  return Error{ErrorCode::NOT_FOUND,
               "the program has no method " + quoted(name) +
                   (names.empty() ? std::string(", nor any other") : "; it has " + names)};
}

schema::Bytes Program::segment(std::size_t index) const noexcept {
  const program::DataSegment segment = view_.segments()[index];
  // Where an empty segment lies says nothing.
  return segment.size() == 0 ? schema::Bytes()
                             : schema::Bytes(file_.bytes.data() + segment_base_ + segment.offset(),
                                             static_cast<std::size_t>(segment.size()));
}

std::optional<schema::Bytes> Program::named_data(std::string_view key) const {
  for (const program::NamedData entry : view_.named_data()) {
    if (entry.key() == key) {
      return segment(entry.segment_index());
    }
  }
  return std::nullopt;
}

std::vector<std::string_view> Program::named_data_keys() const {
  std::vector<std::string_view> keys;
  for (const program::NamedData entry : view_.named_data()) {
    keys.push_back(entry.key());
  }
  return keys;
}

const std::uint8_t* Program::stored(const program::SubsegmentOffsets& list,
                                    std::uint32_t index) const noexcept {
  const schema::Bytes bytes = segment(list.segment_index());
  return bytes.data() == nullptr ? nullptr : bytes.data() + list.offsets()[index];
}

const std::uint8_t* Program::constant(std::uint32_t index) const noexcept {
  // Writers of a constant segment put at least the reserved entry 0 and one value into it.
  const program::SubsegmentOffsets list = view_.constant_segment();
  return list.offsets().size() > 1 ? stored(list, index)
                                   : view_.constant_buffer()[index].storage().data();
}

const std::uint8_t* Program::initial_value(std::uint64_t segment,
                                           std::uint32_t index) const noexcept {
  return stored(view_.mutable_data_segments()[static_cast<std::size_t>(segment)], index);
}

schema::Bytes Program::delegate_blob(
    const program::BackendDelegateDataReference& reference) const noexcept {
  return reference.location() == program::DataLocation::SEGMENT
             ? segment(reference.index())
             : view_.backend_delegate_data()[reference.index()].data().bytes();
}

}  // namespace placewire
