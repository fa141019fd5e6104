"""The engines that ship with the library; each fits the contract in `abridged.engine`."""
