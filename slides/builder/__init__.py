"""The builder of the decks; ../DESIGN.md describes it."""
