import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'
import { Cursor } from '../http/list.ts'
import { ArchivedVersion, MAX_ARCHIVED_AT_ONCE } from '../values/archived-version.ts'

const Month = z.string().regex(/^\d{4}-(?:0[1-9]|1[0-2])$/, 'Give a month as YYYY-MM')

/** The query of GET /v1/projects/{id}/archive. */
export const ArchiveQuery = z.object({
  before: Month.optional().describe('Only actions that were first recorded before this month'),
  cursor: Cursor.optional().describe('`next_cursor` of the part before'),
})

const ArchiveStatement = z.object({
  archive_id: z
    .string()
    .regex(/^arc_[0-9a-z]{26}$/)
    .describe('The same for the same lines'),
  project_id: z.string(),
  month: Month.nullable().describe('When the actions were first recorded, in UTC; null without actions'),
  actions: z.int().describe('The number of lines before'),
  exported_at: Timestamp,
  sha256: z.string().describe('SHA-256 of the lines before, in hex'),
  versions_sha256: z.string().describe('SHA-256 of the ids and versions of these actions, in hex'),
})

/** The last line of a part of an archive: what the service states about the lines before, and its signature. */
export const ArchiveEnd = z.object({
  statement: ArchiveStatement,
  key_id: z.string().describe('The key of SECRET_KEYS that the key pair is derived from'),
  signature: z.string().describe('Ed25519 over the JSON of `statement` with sorted keys, in base64url'),
  next_cursor: z.string().nullable().describe('Null if no part follows'),
})
export type ArchiveEnd = z.infer<typeof ArchiveEnd>

/** The body of POST /v1/projects/{id}/archive. */
export const NewArchiveRemoval = z.object({
  statement: ArchiveStatement.describe('The last line of the part'),
  signature: z.string().max(255),
  actions: z.array(ArchivedVersion).min(1).max(MAX_ARCHIVED_AT_ONCE).describe('The actions of the part, in its order'),
})
export type NewArchiveRemoval = z.infer<typeof NewArchiveRemoval>

/** The answer of POST /v1/projects/{id}/archive. */
export const ArchiveRemoval = z.object({
  removed: z.int().describe('Actions of the part that are removed'),
  waiting: z.int().describe('Actions that will be removed: ask again until there are none'),
  changed: z.int().describe('Actions that changed since the part was read. They stay, and are part of a later one'),
})
export type ArchiveRemoval = z.infer<typeof ArchiveRemoval>
