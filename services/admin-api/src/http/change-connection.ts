import type { ConnectionDocument } from '@backstop/contracts'
import { AppError } from '@backstop/kit'
import type { Principal } from '../domain/access.ts'
import type { AdminStores } from '../store/stores.ts'
import { findConnection } from './found.ts'
import { checkIfMatch } from './if-match.ts'

/** Each time somebody else changed it in between, so that many losses in a row mean that something is wrong. */
const MAX_TRIES = 10

/**
 * Changes a connection on the version that was read, so that no change of somebody else's is undone.
 * @param next the fields that change, computed anew from what is stored whenever somebody came in between
 */
export async function changeConnection(
  stores: AdminStores,
  principal: Principal,
  params: { readonly id: string; readonly connection_id: string },
  ifMatch: string | undefined,
  next: (document: ConnectionDocument) => Partial<Omit<ConnectionDocument, '_id'>>,
): Promise<ConnectionDocument> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const document = await findConnection(stores, principal, params.connection_id, params.id)
    checkIfMatch(ifMatch, document.version)
    const changed = await stores.connections.change({ _id: document._id, version: document.version }, next(document))
    if (changed !== undefined) return changed
  }
  throw new AppError('conflict', `Connection ${params.connection_id} keeps changing; try again`, { retryable: true })
}
