const RETURN = { id: 'ret_1', payment: 'pay_1', cents: 2499, currency: 'EUR', made: 1_764_000_000, paid: false }

export const WALLET_EVENTS = {
  'return.made': { id: 'evt_1', event: 'return.made', return: RETURN },
  'return.paid': { id: 'evt_2', event: 'return.paid', return: { ...RETURN, paid: true } },
}

export const WALLET_OBJECTS = { return: RETURN }
