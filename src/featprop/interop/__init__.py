"""The doors to other libraries' graphs. They speak plain arrays; `featprop.graph` makes a Graph of those."""
