"""The tests of placewire, in the order of the tree that they test."""
