import { createHash } from 'node:crypto'
import { actionWithoutPersonalData } from '@backstop/channels'
import {
  type ActionDocument,
  type ArchiveEnd,
  archivedVersionLine,
  deterministicId,
  MAX_ARCHIVED_AT_ONCE,
  type ShownAction,
} from '@backstop/contracts'
import { canonicalJson } from '@backstop/kit/audit'
import type { SecretBox } from '@backstop/kit/secret-box'
import type { ListPosition } from '../../http/cursor.ts'
import type { ReadCollection } from '../../store/collection.ts'
import { showAction } from '../actions/actions.ts'
import { EXPORT_PURPOSE } from '../audit/export-audit.ts'

const ACTIONS_PER_READ = 500
const DAY_MS = 86_400_000

export interface PartRequest {
  readonly projectId: string
  /** The place after the last action of the part before; undefined for the first part. */
  readonly after: ListPosition | undefined
  /** Only actions that were first recorded before this time. */
  readonly before: Date
  readonly now: Date
}

export interface PartPorts {
  readonly actions: Pick<ReadCollection<ActionDocument>, 'page'>
  readonly secretBox: Pick<SecretBox, 'signPublicly'>
  signCursor(place: ListPosition): string
  /** @throws AppError if the caller may read no further */
  authorize(): Promise<unknown>
}

type Line = ShownAction | ArchiveEnd

/**
 * The next explained actions without an incident, oldest first and of one month, and the signed statement about them as the last line. Files
 * outlive every erasure, so they have no personal data, also if a failed erasure has left some in the database.
 */
export async function* exportPart(request: PartRequest, ports: PartPorts): AsyncGenerator<Line[]> {
  const { projectId, now } = request
  const [lines, versions] = [createHash('sha256'), createHash('sha256')]
  let month: string | null = null
  let last: ActionDocument | undefined
  let count = 0
  let isMoreLikely = false
  for await (const found of archivable(request, ports.actions)) {
    month ??= monthOf(found[0])
    isMoreLikely = monthOf(found[0]) !== month
    if (isMoreLikely) break
    await ports.authorize()
    const shown = found.slice(0, MAX_ARCHIVED_AT_ONCE - count)
    const page = shown.map(showAction).map(actionWithoutPersonalData)
    for (const action of page) {
      lines.update(`${JSON.stringify(action)}\n`)
      versions.update(archivedVersionLine(action))
    }
    count += shown.length
    last = shown.at(-1) ?? last
    yield page
    isMoreLikely = count === MAX_ARCHIVED_AT_ONCE
    if (isMoreLikely) break
  }
  const sha256 = lines.digest('hex')
  const statement: ArchiveEnd['statement'] = {
    archive_id: deterministicId('archive', projectId, sha256),
    project_id: projectId,
    month,
    actions: count,
    exported_at: now.toISOString(),
    sha256,
    versions_sha256: versions.digest('hex'),
  }
  const { keyId, signature } = ports.secretBox.signPublicly(EXPORT_PURPOSE, canonicalJson(statement))
  const next_cursor =
    isMoreLikely && last !== undefined ? ports.signCursor({ at: last.first_seen, id: last._id }) : null
  yield [{ statement, key_id: keyId, signature, next_cursor }]
}

/**
 * The actions that may be archived, oldest first. Each query reads one day, because the actions that stay have no index of their own, and a list
 * query ends after a few seconds.
 */
async function* archivable(
  { projectId, after: begin, before }: PartRequest,
  actions: PartPorts['actions'],
): AsyncGenerator<readonly [ActionDocument, ...ActionDocument[]]> {
  const common = { by: 'first_seen', oldestFirst: true } as const
  const [oldest] = await actions.page({ ...common, where: { project_id: projectId }, after: begin, limit: 1 })
  if (oldest === undefined) return
  const where = { project_id: projectId, verdict: 'explained', incident_id: null } as const
  let after = begin
  for (let day = startOfDay(oldest.first_seen); day < before.getTime(); ) {
    const window = { from: new Date(day), before: new Date(Math.min(day + DAY_MS, before.getTime())) }
    const page = await actions.page({ ...common, where, window, after, limit: ACTIONS_PER_READ })
    const [first, ...rest] = page
    if (first !== undefined) yield [first, ...rest]
    const last = rest.at(-1) ?? first
    if (page.length === ACTIONS_PER_READ && last !== undefined) after = { at: last.first_seen, id: last._id }
    else day += DAY_MS
  }
}

function startOfDay(time: Date): number {
  return time.getTime() - (time.getTime() % DAY_MS)
}

function monthOf({ first_seen }: Pick<ActionDocument, 'first_seen'>): string {
  return first_seen.toISOString().slice(0, 7)
}
