import type { ConnectionDocument } from '@backstop/contracts'
import { MINUTE, PROJECT, T0 } from '@backstop/verdict/test'

/** An active connection of the card processor that was made an hour before the tests begin. */
export function connectionOf(id: string, more: Partial<ConnectionDocument>): ConnectionDocument {
  const madeAt = new Date(T0 - 60 * MINUTE)
  return {
    _id: id,
    project_id: PROJECT,
    kind: 'processor',
    name: id,
    out_of_band: 'alert',
    status: 'active',
    inbound_secrets: [],
    read_key: null,
    site: null,
    api_base: null,
    version: 1,
    created_at: madeAt,
    updated_at: madeAt,
    deleted_at: null,
    ...more,
  }
}
