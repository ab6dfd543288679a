const RETURN = {
  id: 'ret_1',
  payment: 'pay_1',
  cents: 2499,
  currency: 'EUR',
  made: 1_764_000_000,
  paid: false,
  changed: 1_764_000_000,
}

const PLAN = { id: 'plan_1', state: 'running', ends: 1_766_000_000, changed: 1_764_000_000 }

export const WALLET_EVENTS = {
  'return.made': { id: 'evt_1', event: 'return.made', at: 1_764_000_000, return: RETURN },
  'return.paid': { id: 'evt_2', event: 'return.paid', at: 1_764_000_060, return: { ...RETURN, paid: true } },
  'plan.changed': { id: 'evt_3', event: 'plan.changed', at: 1_764_000_000, plan: PLAN },
}

export const WALLET_OBJECTS = { return: RETURN, plan: PLAN }
