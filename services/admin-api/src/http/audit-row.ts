import type { AdminShelves, AdminStores } from '../store/stores.ts'
import type { Changed, RouteRequest } from './route.ts'

/** Who asked for a change, as its audit row tells it. */
export interface Asker {
  readonly keyId: string
  readonly requestId: string
  /** Undefined once the connection is gone. */
  readonly address: string | undefined
  readonly now: Date
}

/** Makes the `change` of a request: what a route writes and its row, in one step. */
export function changeWithRow(
  stores: Pick<AdminStores, 'together'>,
  newId: RouteRequest<never, never, never>['newId'],
  asker: Asker,
): RouteRequest<never, never, never>['change'] {
  return (write, toldAs) => {
    const id = newId('audit')
    return stores.together(async shelves => {
      const written = await write(shelves)
      await writeRow(shelves, id, asker, toldAs(written))
      return written
    })
  }
}

/**
 * One row a mutation, before the caller hears of it and before its answer is kept: a repeat under the same Idempotency-Key
 * makes good what a crash left out, under the same id. Known gap: what is changed elsewhere (`RouteAnswer.changed`) is changed
 * before its row is written. Without such a key, and where the repeat finds nothing left to change, a process that dies
 * between the two leaves that change without a row. None of those changes shows a secret.
 */
export async function writeRow(
  { audit }: Pick<AdminShelves, 'audit'>,
  id: string,
  asker: Asker,
  { action, target, projectId }: Changed,
): Promise<void> {
  // Looked for first: a second insert under one id undoes a whole transaction.
  if ((await audit.find({ _id: id })) !== undefined) return
  await audit.insert({
    _id: id,
    at: asker.now,
    key_id: asker.keyId,
    action,
    target,
    project_id: projectId,
    request_id: asker.requestId,
    address: asker.address ?? null,
  })
}
