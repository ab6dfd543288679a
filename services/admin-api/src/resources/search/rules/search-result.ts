import { type ActionDocument, formatMoney, kindWords, type SearchResult, showableText } from '@backstop/contracts'
import type { FoundOperation } from '../../../store/search-index.ts'

export function actionResult(action: ActionDocument): SearchResult {
  const { _id, project_id, connection_id, subject, verdict, first_seen_at } = action
  const title = `${describeChange(action)} on ${showableText(subject)}: ${verdict.replaceAll('_', ' ')}`
  return { type: 'action', id: _id, title, project_id, connection_id, at: first_seen_at }
}

export function operationResult(operation: FoundOperation): SearchResult {
  const { _id, project_id, connection_id, subject, state, created_at } = operation
  const title = `Operation: ${describeChange(operation)} on ${showableText(subject)}, ${state.replaceAll('_', ' ')}`
  return { type: 'operation', id: _id, title, project_id, connection_id, at: new Date(created_at).toISOString() }
}

export function runResult(runId: string, { project_id }: FoundOperation): SearchResult {
  return { type: 'run', id: runId, title: `Run ${showableText(runId)}`, project_id, connection_id: null, at: null }
}

type Change = Parameters<typeof kindWords>[0] & Pick<ActionDocument, 'amount' | 'currency'>

function describeChange(change: Change): string {
  const words = kindWords(change)
  const money = formatMoney(change.amount, change.currency)
  const what = `${words.charAt(0).toUpperCase()}${words.slice(1)}`
  return money === null ? what : `${what} of ${money}`
}
