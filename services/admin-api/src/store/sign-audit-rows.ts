import { type AuditKeys, signRow } from '@backstop/kit/audit'
import type { AdminCollections, AdminStores } from './stores.ts'

/** The stores, which sign each audit row that is written. It is done here and not by the writers, so none can forget it. */
export function signAuditRows(stores: AdminStores, keys: AuditKeys): AdminStores {
  const signing = ({ audit }: Pick<AdminCollections, 'audit'>): AdminCollections['audit'] => ({
    ...audit,
    insert: row => audit.insert(signRow(row, keys)),
    put: row => audit.put(signRow(row, keys)),
    putAll: rows => audit.putAll(rows.map(row => signRow(row, keys))),
  })
  return {
    ...stores,
    audit: signing(stores),
    transaction: write => stores.transaction(collections => write({ ...collections, audit: signing(collections) })),
  }
}
