"""The paper's experiments: protocol, runner, tables, figures, and the paper's own numbers."""
