import { createHash, createPublicKey, verify } from 'node:crypto'
import {
  ArchiveQuery,
  ArchiveRemoval,
  archivedVersionLine,
  type Command,
  deterministicId,
  NewArchiveRemoval,
} from '@backstop/contracts'
import { canonicalJson } from '@backstop/kit/audit'
import { AppError } from '@backstop/kit/errors'
import type { SecretBox } from '@backstop/kit/secret-box'
import { PositionCursor } from '../../http/cursor.ts'
import { findProject, refuseHeartbeat } from '../../http/find-resource.ts'
import { refusedField } from '../../http/refused-field.ts'
import { type AuditedChange, defineRoute, type Route } from '../../http/route.ts'
import { LIST_FORMATS, streamList } from '../../http/whole-list/stream-list.ts'
import type { AdminParts } from '../../parts.ts'
import type { ReadCollections } from '../../store/stores.ts'
import { EXPORT_PURPOSE } from '../audit/export-audit.ts'
import { exportPart } from './export-part.ts'

const path = '/v1/projects/{id}/archive'
const tag = 'Archive'
const DAY_MS = 86_400_000
/** A command with as many versions has about 70 kB. */
const ACTIONS_PER_COMMAND = 1_000

/** /v1/projects/{id}/archive */
export function archiveRoutes(parts: AdminParts): Route[] {
  return [exportRoute(parts), removeRoute(parts)]
}

function exportRoute({ stores, secretBox, archiveAfterDays }: AdminParts): Route {
  return defineRoute({
    method: 'get',
    path,
    operationId: 'exportArchive',
    tag,
    summary: 'Export the oldest explained actions of a project, as NDJSON with a signature',
    description:
      'At most 10000 actions of one month that were first recorded `ARCHIVE_AFTER_DAYS` ago or earlier and never had an incident. The last line has a `statement` about the lines before and its signature. Store the part, then remove its actions with POST.',
    scope: 'admin',
    query: ArchiveQuery,
    answers: { 200: { description: 'The actions and the signature', mediaType: LIST_FORMATS.ndjson } },
    refusals: ['conflict'],
    async handle({ params, query, principal, cursors, now, signal, authorize }) {
      const { _id: projectId } = await findProject(stores, principal, params.id)
      refuseHeartbeat(projectId)
      const endsAt = Math.min(endOf(now, archiveAfterDays), Date.parse(`${query.before ?? '9999-12'}-01`))
      const after = cursors.verify(PositionCursor, query.cursor)
      const request = { projectId, after, before: new Date(endsAt), now }
      const pages = exportPart(request, {
        actions: stores.actions,
        secretBox,
        signCursor: place => cursors.sign(PositionCursor, place),
        authorize: async () => findProject(stores, await authorize(), projectId),
      })
      return {
        status: 200,
        headers: {
          'content-type': LIST_FORMATS.ndjson,
          'content-disposition': 'attachment; filename="archive.ndjson"',
        },
        stream: out => streamList(out, { format: 'ndjson', columns: [], pages, signal }),
      }
    },
  })
}

/** @throws AppError `conflict` if archiving is off */
function endOf(now: Date, archiveAfterDays: number): number {
  if (archiveAfterDays > 0) return now.getTime() - archiveAfterDays * DAY_MS
  throw new AppError('conflict', 'Actions are kept for ever; set ARCHIVE_AFTER_DAYS of admin-api to archive them')
}

function removeRoute({ stores, secretBox, commands, archiveAfterDays }: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path,
    operationId: 'removeArchived',
    tag,
    summary: 'Remove the actions of a stored part of an archive',
    description:
      'Send back the statement of the part, with its signature, and the id and version of each of its actions. What daily totals count of them stays. Ask again until none is waiting: a repeat is safe.',
    scope: 'admin',
    body: NewArchiveRemoval,
    answers: { 202: { description: 'The removal is requested', schema: ArchiveRemoval } },
    refusals: ['not_found', 'conflict'],
    async handle({ params, body, principal, now }) {
      const { _id: projectId } = await findProject(stores, principal, params.id)
      endOf(now, archiveAfterDays)
      checkPart(body, projectId, secretBox)
      const { statement, actions } = body
      const { waiting, changed } = await findLeft(stores, actions)
      await commands.send(removalsOf(waiting, statement, now))
      const removed = actions.length - waiting.length - changed
      return { status: 202, body: { removed, waiting: waiting.length, changed }, changed: auditedPart(statement) }
    },
  })
}

type Statement = NewArchiveRemoval['statement']

/** The commands that remove these actions. */
function removalsOf(
  actions: NewArchiveRemoval['actions'],
  { project_id, archive_id }: Statement,
  now: Date,
): Command[] {
  return chunksOf(actions).map((chunk, index) => ({
    kind: 'archive_actions',
    command_id: deterministicId('command', 'archive_actions', archive_id, now.toISOString(), String(index)),
    project_id,
    requested_at: now.toISOString(),
    archive_id,
    actions: chunk,
  }))
}

/** One audit row for each part, however often its removal is asked for. */
function auditedPart({ archive_id, project_id, month, actions, sha256 }: Statement): AuditedChange {
  const facts = Object.entries({ month, actions, sha256 })
  const changes = facts.map(([field, to]) => ({ resource: archive_id, field, from: null, to }))
  const rowId = deterministicId('audit', 'archive.remove', archive_id)
  return { action: 'archive.remove', target: archive_id, projectId: project_id, changes, rowId }
}

/** @throws AppError `invalid_request` if this installation did not export the part, or these are not its actions */
function checkPart(
  { statement, signature, actions }: NewArchiveRemoval,
  projectId: string,
  secretBox: Pick<SecretBox, 'publicKeys'>,
): void {
  const signed = Buffer.from(canonicalJson(statement), 'utf8')
  const isSigned = secretBox
    .publicKeys(EXPORT_PURPOSE)
    .some(({ pem }) => verify(null, signed, createPublicKey(pem), Buffer.from(signature, 'base64url')))
  if (!isSigned || statement.project_id !== projectId) {
    throw refusedField('body.statement', 'Send the statement and the signature as this project exported them')
  }
  const versions = createHash('sha256').update(actions.map(archivedVersionLine).join('')).digest('hex')
  if (versions === statement.versions_sha256) return
  throw refusedField('body.actions', 'Send the id and version of each action of the part, in its order')
}

/** The actions that are still whole, and the number of those that have another version by now. */
async function findLeft({ actions }: Pick<ReadCollections, 'actions'>, archived: NewArchiveRemoval['actions']) {
  const versions = new Map<string, number>()
  for await (const batch of actions.batches({ _id: { in: archived.map(({ action_id }) => action_id) } }, ['version'])) {
    for (const { _id, version } of batch) versions.set(_id, version)
  }
  const whole = archived.filter(({ action_id }) => versions.has(action_id))
  const waiting = whole.filter(({ action_id, version }) => versions.get(action_id) === version)
  return { waiting, changed: whole.length - waiting.length }
}

function chunksOf<T>(list: readonly T[]): T[][] {
  const starts = Array.from({ length: Math.ceil(list.length / ACTIONS_PER_COMMAND) }, (_, index) => index)
  return starts.map(index => list.slice(index * ACTIONS_PER_COMMAND, (index + 1) * ACTIONS_PER_COMMAND))
}
