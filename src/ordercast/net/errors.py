"""What can be wrong with a live group, each with one line that says what to do."""


class GroupError(ValueError):
    """Base of all errors of a live group."""


class AddressInUse(GroupError):
    """Another process has this member's port."""


class AddressUnusable(GroupError):
    """This host cannot use an address: it is not one of its own, or its name is not known."""


class UnknownMember(GroupError):
    """The group does not name this member."""


class LevelRefused(GroupError):
    """The protocol's contract does not give the service level asked for."""


class MembersMissing(GroupError):
    """Not every member was heard from in time."""


class LockedOut(GroupError):
    """The others began without this life of the member: a fixed group does not take a member back."""


class GroupClosed(GroupError):
    """The group was left; nothing can be broadcast."""


class GroupFailed(GroupError):
    """The member stopped because of a fault in Ordercast; the cause is attached."""
