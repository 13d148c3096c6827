"""What a user of the data loses: measures of an original table beside its published form, one file each.

All of them see a column as an ``Axis``: its domain, and how much of it each published label covers. Inside a cell they
assume an even spread, as a reader of the release would.
"""

from indistinct.losses.axes import Axis, axis_of
from indistinct.utility.tables import Groups, TablePair

__all__ = ["Axis", "Groups", "TablePair", "axis_of"]
