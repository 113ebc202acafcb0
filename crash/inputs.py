"""What the works read: graphs, labels and a model, made once."""

from dataclasses import dataclass
from pathlib import Path

from crash.graphs import label_of, write_labels, write_tables

__all__ = ["Inputs", "featprop_quietly"]


@dataclass(frozen=True)
class Inputs:
    """What works read, made once.

    Attributes
    ----------
    graph, other
        Two graphs of the same size as tables.
    converted
        The first one in featprop's own format.
    labels
        A sheet of 30 labels.
    model
        A model of them.
    address
        Where the file of a data set is served, slowly.
    """

    graph: Path
    other: Path
    converted: Path
    labels: Path
    model: Path
    address: str

    @classmethod
    def made(cls, folder: Path, address: str) -> "Inputs":
        """Make them in a folder."""
        import featprop as fp

        graph, other = (write_tables(folder / f"graph-{seed}", seed=seed) for seed in (1, 2))
        featprop_quietly(["convert", str(graph), str(folder / "converted")])
        labels = write_labels(folder / "labels.csv")
        read = fp.read_graph(graph)
        fp.models.save_model(
            fp.GraphRidge().fit(read, range(30), [label_of(node) for node in range(30)]), folder / "model.safetensors"
        )
        return cls(graph, other, folder / "converted", labels, folder / "model.safetensors", address)


def featprop_quietly(words: list[str]) -> None:
    """Do a command in this process, without what it prints."""
    from typer.testing import CliRunner

    from featprop.cli import app

    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
