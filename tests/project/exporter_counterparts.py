"""ExecuTorch's own tests of its exporter's device support, and ours that show the same or better.

The names are those of ExecuTorch 1.5. Of `test_cuda_partitioner.py` the tests of the partitioner
are here; its others are about the weights that AOTInductor writes, which we leave to the backend.
"""

from __future__ import annotations

from functools import partial

from tests.project.counterparts import OurTest, UpstreamFile, differs, same

_backends = partial(OurTest, "placewire/aot/test_backends.py")
_copies = partial(OurTest, "placewire/aot/test_device_copies.py")
_device = partial(OurTest, "placewire/test_device.py")
_device_runs = partial(OurTest, "placewire/aot/test_device_runs.py")
_devices = partial(OurTest, "placewire/aot/test_devices.py")
_export = partial(OurTest, "placewire/aot/test_export.py")
_partition = partial(OurTest, "placewire/aot/test_partition.py")
_planning = partial(OurTest, "placewire/aot/test_device_planning.py")
_save = partial(OurTest, "placewire/test_pte_save.py")
_simplify = partial(OurTest, "placewire/aot/test_simplify.py")
_skipped = partial(OurTest, "placewire/aot/test_skipped_copies.py")
_codecs = partial(OurTest, "schema/test_codecs_agree.py")

_PROGRAM = UpstreamFile(
    "exir/_serialize/test/test_program.py",
    (
        same(
            "test_deserialize_pte_binary_with_rich_flatbuffer_types",
            _codecs("test_objects_of_every_table_give_the_same_bytes"),
            _codecs("test_real_files_are_rewritten_byte_for_byte"),
        ),
        same(
            "test_round_trip_with_non_const_buffer_device",
            _save("test_a_list_of_devices_that_names_the_cpu_survives"),
        ),
        same(
            "test_round_trip_without_non_const_buffer_device",
            _save("test_a_method_without_a_list_of_devices_gets_none"),
        ),
        same(
            "test_no_constants",
            _export("test_a_program_without_constants_has_the_empty_segment_of_executorch"),
        ),
    ),
)

_PROPAGATION = UpstreamFile(
    "exir/tests/test_propagate_device_pass.py",
    (
        same(
            "test_h2d_d2h_nodes_inserted",
            _devices("test_two_inputs_are_copied_to_the_device_and_one_output_back"),
        ),
        same(
            "test_e2e_copy_nodes_in_executorch_graph",
            _devices("test_copies_lie_on_the_device_they_copy_to"),
        ),
        same(
            "test_no_copy_nodes_without_device",
            _devices("test_a_delegate_without_a_device_needs_no_copies"),
        ),
        same(
            "test_copy_nodes_require_non_cpu_memory_planning",
            _skipped("test_no_copies_are_inserted"),
        ),
        same(
            "test_redundant_same_device_copies_elided",
            _devices("test_what_goes_from_one_to_the_next_stays_on_their_device"),
        ),
        same(
            "test_cross_device_copies_preserved",
            _devices("test_between_two_devices_it_goes_through_the_host"),
        ),
        same(
            "test_output_feeding_multiple_same_device_delegates_elided",
            _devices("test_an_output_for_several_on_its_device_is_copied_back_once"),
        ),
        same(
            "test_output_feeding_gpu_and_cpu_consumers",
            _devices(
                "test_an_output_for_a_delegate_and_the_cpu_is_used_where_it_is_and_copied_back"
            ),
        ),
        same(
            "test_output_feeding_same_and_cross_device_delegates",
            _devices("test_an_output_for_its_own_and_another_device_makes_one_round_trip"),
        ),
        same(
            "test_device_consistency_cuda_1",
            _devices("test_the_index_of_its_device_is_on_all_that_it_takes_and_gives"),
        ),
        same(
            "test_no_device_spec_remains_cpu",
            _devices("test_a_delegate_without_a_device_needs_no_copies"),
        ),
        same(
            "test_device_consistency_after_to_executorch",
            _devices("test_three_tensors_are_on_the_device_and_three_on_the_cpu"),
            _planning("test_every_tensor_is_in_a_buffer_of_its_own_device_and_fits"),
        ),
        same(
            "test_parse_device_spec_value",
            _device("test_a_device_is_read_as_people_write_it"),
            _devices("test_without_an_index_it_is_the_first"),
        ),
        same(
            "test_parse_device_spec_value_unknown_raises",
            _devices("test_anything_else_is_refused_with_what_was_found_and_what_is_valid"),
        ),
        same(
            "test_parse_device_spec_value_case_insensitive",
            _devices("test_its_name_may_be_in_any_case"),
        ),
        same(
            "test_get_target_device_from_compile_specs",
            _devices("test_there_is_none_without_a_compile_spec"),
            _devices("test_the_first_of_several_counts"),
        ),
        same(
            "test_e2e_device_on_specs_after_to_executorch",
            _devices("test_three_tensors_are_on_the_device_and_three_on_the_cpu"),
        ),
        same(
            "test_e2e_non_delegated_tensor_specs_remain_cpu",
            _devices("test_what_is_not_delegated_stays_on_the_cpu"),
        ),
        differs(
            "test_skip_h2d_for_method_inputs",
            _skipped("test_inputs_of_a_delegate_are_expected_on_its_device"),
            _skipped("test_the_planner_leaves_them_to_the_caller"),
            because="the inputs are on the device all the same, but have no planned memory there:"
            " a caller could only fill it by writing host data to a device",
        ),
        same(
            "test_skip_d2h_for_method_outputs",
            _skipped("test_outputs_of_a_delegate_stay_on_its_device"),
        ),
        same("test_skip_both_h2d_and_d2h", _skipped("test_both_leave_no_copy")),
        same(
            "test_skip_h2d_partial_with_intermediate_input",
            _skipped("test_what_the_cpu_computes_for_a_delegate_is_copied_all_the_same"),
        ),
        same(
            "test_tensorspec_repr_includes_device",
            _devices("test_the_text_of_a_spec_names_its_device"),
        ),
        differs(
            "test_skipping_copies_requires_unallocated_graph_io",
            _skipped("test_the_planner_leaves_them_to_the_caller"),
            because="there is no second setting to forget: what is skipped is left unplanned",
        ),
    ),
)

_EMITTER = UpstreamFile(
    "exir/emit/test/test_emit.py",
    (
        same(
            "test_emit_device_info_propagated_to_serialized_tensor",
            _devices("test_three_tensors_are_on_the_device_and_three_on_the_cpu"),
        ),
        same(
            "test_emit_cpu_tensors_no_extra_device_info",
            _devices("test_no_tensor_of_the_cpu_says_anything_of_devices"),
        ),
        same(
            "test_emit_non_const_buffer_device_populated_for_device_tensors",
            _devices("test_its_buffers_are_those_of_the_golden_program"),
        ),
        same(
            "test_emit_non_const_buffer_device_none_for_cpu_only",
            _planning("test_a_method_for_the_cpu_has_one_buffer_and_no_list_of_devices"),
        ),
        same(
            "test_emit_non_const_buffer_device_none_when_flag_disabled",
            _skipped("test_what_delegates_take_and_give_is_labelled_and_planned_on_the_cpu"),
        ),
    ),
)

_CUDA_EXPORT = UpstreamFile(
    "backends/cuda/tests/test_cuda_export.py",
    (
        same(
            "test_device_info_propagated_to_cuda_delegate_outputs",
            _backends("test_what_its_delegates_take_and_give_is_in_a_buffer_of_its_device"),
        ),
    ),
)

_CUDA_PARTITIONER = UpstreamFile(
    "backends/cuda/tests/test_cuda_partitioner.py",
    (
        same("test_simple_add_partition", _backends("test_what_it_can_all_take_is_one_delegate")),
        same("test_conv2d_partition", _backends("test_what_it_can_all_take_is_one_delegate")),
        same("test_linear_partition", _backends("test_what_it_can_all_take_is_one_delegate")),
        differs(
            "test_unused_constant_tagging",
            _simplify("test_unused_parameters_are_not_stored"),
            because="what nothing uses is no constant of any delegate",
        ),
        same(
            "test_does_not_retag_already_lowered_delegate",
            _partition("test_the_first_partitioner_takes_first"),
        ),
        same(
            "test_does_not_tag_constant_used_only_by_prior_delegate",
            _backends("test_a_parameter_of_an_earlier_delegate_stays_with_it"),
        ),
        same(
            "test_multiple_partitions_for_split_graph",
            _backends("test_what_it_does_not_support_stays_on_the_cpu"),
            _partition("test_no_way_leads_out_of_a_partition_and_back_into_it"),
        ),
        differs(
            "test_control_flow_get_attr_shares_op_tag",
            _backends("test_of_a_branch_it_takes_what_is_inside"),
            _device_runs("test_a_branch_takes_a_tensor_of_a_delegate_where_it_is"),
            because="branches stay in the program, and delegates are made inside of them",
        ),
        same(
            "test_shared_constant_across_partitions",
            _backends("test_a_parameter_of_two_delegates_is_in_both_blobs"),
        ),
    ),
)

_MEMORY_PLANNING = UpstreamFile(
    "exir/tests/test_memory_planning.py",
    (
        same(
            "test_cpu_only_unchanged",
            _planning("test_a_method_for_the_cpu_has_one_buffer_and_no_list_of_devices"),
            _devices("test_the_settings_for_devices_do_not_change_a_program_for_the_cpu"),
        ),
        differs(
            "test_custom_pool_with_device_planning_raises",
            _planning("test_pools_and_devices_go_together"),
            because="each pool of each device has a buffer of its own, so that nothing collides",
        ),
        same(
            "test_all_cuda_no_wasted_slots",
            _planning("test_a_method_on_devices_alone_has_no_buffer_for_the_cpu"),
        ),
        same(
            "test_mixed_cpu_cuda_separate_buffers",
            _devices("test_its_buffers_are_those_of_the_golden_program"),
        ),
        same(
            "test_mem_offset_correct_after_remap",
            _planning("test_every_tensor_is_in_a_buffer_of_its_own_device_and_fits"),
            _planning("test_every_buffer_begins_at_offset_0"),
        ),
        same(
            "test_no_cross_device_memory_sharing",
            _planning("test_every_tensor_is_in_a_buffer_of_its_own_device_and_fits"),
        ),
        same(
            "test_different_device_indices_separate_buffers",
            _planning("test_the_cpu_comes_first_and_devices_by_kind_and_index"),
        ),
        same(
            "test_device_index_propagated",
            _planning("test_the_cpu_comes_first_and_devices_by_kind_and_index"),
        ),
        same(
            "test_disabled_falls_back_to_cpu",
            _skipped("test_what_delegates_take_and_give_is_labelled_and_planned_on_the_cpu"),
        ),
    ),
)

_COPY_OPERATORS = UpstreamFile(
    "exir/tests/test_device_copy_ops.py",
    (
        same("test_h2d_copy_functional", _copies("test_a_functional_copy_has_memory_of_its_own")),
        same("test_d2h_copy_functional", _copies("test_a_functional_copy_has_memory_of_its_own")),
        same(
            "test_h2d_copy_out_variant",
            _copies("test_an_out_variant_writes_into_what_it_is_given_and_returns_it"),
        ),
        same(
            "test_d2h_copy_out_variant",
            _copies("test_an_out_variant_writes_into_what_it_is_given_and_returns_it"),
        ),
        same("test_h2d_copy_preserves_dtype", _copies("test_copies_keep_the_dtype")),
        same(
            "test_h2d_copy_scalar_tensor",
            _copies("test_copies_take_tensors_without_dimensions_or_elements"),
        ),
        same(
            "test_d2h_copy_empty_tensor",
            _copies("test_copies_take_tensors_without_dimensions_or_elements"),
        ),
    ),
)

EXPORTER = (
    _PROGRAM,
    _PROPAGATION,
    _EMITTER,
    _CUDA_EXPORT,
    _CUDA_PARTITIONER,
    _MEMORY_PLANNING,
    _COPY_OPERATORS,
)
