"""What the tests compare the engine with: instances, an oracle, a checker and a rendering of the paper."""
