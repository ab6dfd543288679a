import type { ActionDocument } from '../documents/reconciler.ts'

/**
 * What is counted of an action that was archived. A late change lists the action again under the same id, perhaps on another day: from then on this
 * document counts nothing.
 */
export type ArchivedActionDocument = Pick<
  ActionDocument,
  | '_id'
  | 'project_id'
  | 'connection_id'
  | 'provider_created_at'
  | 'kind'
  | 'verdict'
  | 'reason'
  | 'currency'
  | 'amount'
  | 'state'
  | 'mode'
  | 'actor_id'
  | 'verdict_bucket'
  | 'merged_into'
  | 'version'
> & {
  /** Empty if the action was found by reading the provider only; absent otherwise. */
  event_ids?: string[]
  archived_at: Date
}
