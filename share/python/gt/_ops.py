"""The functions of gt by their names, which _table.py and the modules behind it fill."""
_ops = {}
