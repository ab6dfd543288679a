import type { Command, DeadLetterDocument, DeliveryDocument, InboxDocument } from '@backstop/contracts'
import type { AuditedChange, RouteRequest } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { describeInboxReplay } from '../inbox-replays/inbox-replays.ts'
import { type FoundDeadLetter, placeOf, projectOf } from './rules/dead-letter.ts'

type Request = Pick<RouteRequest<never, never, never>, 'newId' | 'now' | 'change'>

/**
 * Sends dead letters again, each by the path of its kind: the reconciler decides notifications again, the notifier attempts deliveries, and
 * messages go to their original topics. Everything is sent before the audit rows are written, so that no row is about a replay that was
 * never sent.
 */
export async function replayDeadLetters(
  found: readonly FoundDeadLetter[],
  request: Request,
  { commands, deadLetters }: Pick<AdminParts, 'commands' | 'deadLetters'>,
): Promise<void> {
  if (found.length === 0) return
  const letters = found.flatMap(letter => (letter.kind === 'message' ? [letter.letter] : []))
  for (const letter of letters) await deadLetters.send(letter)
  const entries = found.flatMap(letter => (letter.kind === 'notification' ? [letter.entry] : []))
  const replays = replaysOf(entries, request)
  await commands.send([
    ...marksOf(letters, request),
    ...found.flatMap(letter => (letter.kind === 'delivery' ? [retryOf(letter.delivery, request)] : [])),
    ...replays.map(({ command }) => command),
  ])
  await request.change(
    ({ inboxReplayRequests }) => inboxReplayRequests.putAll(replays.map(({ document }) => document)),
    () => found.map(auditedAs('dead_letter.replay')),
  )
}

/** Marks messages as done without sending them; other dead letters are left as they are. The audit rows are the only trace of the difference. */
export async function dismissDeadLetters(
  found: readonly FoundDeadLetter[],
  request: Request,
  { commands }: Pick<AdminParts, 'commands'>,
): Promise<void> {
  const messages = found.filter(({ kind }) => kind === 'message')
  if (messages.length === 0) return
  const letters = messages.flatMap(letter => (letter.kind === 'message' ? [letter.letter] : []))
  await commands.send(marksOf(letters, request))
  await request.change(
    async () => undefined,
    () => messages.map(auditedAs('dead_letter.dismiss')),
  )
}

function auditedAs(action: string): (found: FoundDeadLetter) => AuditedChange {
  return found => ({ action, target: placeOf(found).id, projectId: projectOf(found), changes: [] })
}

/** The command that the notifier attempts a delivery now. */
function retryOf(
  { _id, project_id }: Pick<DeliveryDocument, '_id' | 'project_id'>,
  { newId, now }: Pick<Request, 'newId' | 'now'>,
): Command {
  const command_id = newId('command')
  return { kind: 'retry_delivery', command_id, project_id, requested_at: now.toISOString(), delivery_id: _id }
}

/** One command for each project of the letters. Letters without a project have an empty one, because a command names one. */
function marksOf(letters: readonly DeadLetterDocument[], { newId, now }: Request): Command[] {
  return [...Map.groupBy(letters, ({ project_id }) => project_id ?? '')].map(([project_id, ofProject]) => ({
    kind: 'mark_replayed',
    command_id: newId('command'),
    project_id,
    requested_at: now.toISOString(),
    dead_letters: ofProject.map(({ _id, parked_at }) => ({
      dead_letter_id: _id,
      parked_at: parked_at.toISOString(),
    })),
  }))
}

/** One replay for each connection of the notifications. */
function replaysOf(entries: readonly InboxDocument[], request: Request) {
  return [...Map.groupBy(entries, ({ connection_id }) => connection_id)].flatMap(([connection_id, ofConnection]) => {
    const [first] = ofConnection
    if (first === undefined) return []
    const event_ids = ofConnection.map(({ event_id }) => event_id)
    const { project_id } = first
    return [describeInboxReplay({ project_id, connection_id, event_ids, from: null, to: null, outcome: null }, request)]
  })
}
