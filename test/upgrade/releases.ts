import type { MessageName } from '@backstop/contracts'

/** The schema version of each message at the releases that can be updated to this one. */
export const RELEASES: Readonly<Record<string, Readonly<Record<MessageName, number>>>> = {
  '0.1.0': {
    alert: 5,
    command: 2,
    'delivery-request': 5,
    'inbound-event': 1,
    incident: 1,
    operation: 1,
    readback: 3,
    recheck: 1,
    reread: 3,
  },
}
