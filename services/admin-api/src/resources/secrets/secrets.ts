import { type ChannelDocument, type ResealField, resealConfig } from '@backstop/channels'
import { type ConnectionDocument, type SealedSecret, SecretKeys, SecretRewrap } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { keyIdOf, type SecretBox, type SecretContext } from '@backstop/kit/secret-box'
import { changeVersioned } from '../../http/change-document.ts'
import { notFound, requireAllProjects } from '../../http/find-resource.ts'
import { defineRoute, type Route, type RouteRequest } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import type { Collection, DocumentFilter } from '../../store/collection.ts'
import type { AdminCollections, ReadCollections } from '../../store/stores.ts'

const tag = 'Stored secrets'
/** Documents that one call changes, so that a call takes about a second. */
const MAX_CHANGES = 100

/** /v1/secret-keys */
export function secretRoutes(parts: AdminParts): Route[] {
  return [showRoute(parts), rewrapRoute(parts)]
}

function showRoute({ stores, secretBox }: AdminParts): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/secret-keys',
    operationId: 'getSecretKeys',
    tag,
    summary: 'Count the stored secrets by the key that encrypts them',
    description: 'Requires a key for all projects.',
    scope: 'admin',
    answers: { 200: { description: 'The keys in use', schema: SecretKeys } },
    async handle({ principal }) {
      requireAllProjects(principal)
      const counts = new Map<string, number>()
      for (const { keyIds } of await readHolders(stores)) {
        for (const keyId of keyIds) counts.set(keyId, (counts.get(keyId) ?? 0) + 1)
      }
      const keys = [...counts].map(([key_id, secrets]) => ({
        key_id,
        secrets,
        available: secretBox.hasKey(key_id),
      }))
      const byName = keys.toSorted((a, b) => (a.key_id < b.key_id ? -1 : 1))
      return { status: 200, body: { primary_key_id: secretBox.primaryKeyId, keys: byName } satisfies SecretKeys }
    },
  })
}

function rewrapRoute({ stores, secretBox }: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/secret-keys/rewrap',
    operationId: 'rewrapSecrets',
    tag,
    summary: 'Encrypt stored secrets with the primary key',
    description: `Changes up to ${MAX_CHANGES} connections and channels; call it until \`remaining\` is 0. It may be interrupted and repeated. Every service must have the primary key before. Requires a key for all projects.`,
    scope: 'admin',
    answers: { 200: { description: 'What this call changed, and what remains', schema: SecretRewrap } },
    async handle(request) {
      requireAllProjects(request.principal)
      const holders = (await readHolders(stores)).filter(({ keyIds }) =>
        keyIds.some(keyId => keyId !== secretBox.primaryKeyId),
      )
      const result: SecretRewrap = { rewrapped: 0, remaining: holders.length, unreadable: [] }
      for (const holder of holders) {
        if (result.rewrapped === MAX_CHANGES || request.signal.aborted) break
        const { kind, id } = holder
        const outcome = await rewrap(holder, request, secretBox)
        if (outcome.kind === 'rewrapped') result.rewrapped += 1
        if (outcome.kind === 'unreadable') result.unreadable.push({ kind, id, reason: outcome.reason })
        if (outcome.kind !== 'lost_race') result.remaining -= 1
      }
      return { status: 200, body: result }
    },
  })
}

/** A connection or channel that holds secrets. */
interface SecretHolder {
  readonly kind: 'connection' | 'channel'
  readonly id: string
  readonly projectId: string
  readonly keyIds: readonly string[]
  /** Encrypts its secrets with the primary key, in a transaction. */
  reseal(collections: AdminCollections, secretBox: SecretBox, now: Date): Promise<unknown>
}

/** Reads all connections and channels, because the key of a secret is part of its stored text. */
async function readHolders({ connections, channels }: Pick<ReadCollections, 'connections' | 'channels'>) {
  const [ofConnections, ofChannels] = await Promise.all([connections.findAll({}), channels.findAll({})])
  const holders = [
    ...ofConnections.map(found =>
      holderOf('connection', 'connections', found, resealConnection, all => all.connections),
    ),
    ...ofChannels.map(found => holderOf('channel', 'channels', found, resealChannel, all => all.channels)),
  ]
  return holders.filter(({ keyIds }) => keyIds.length > 0)
}

function holderOf<D extends ConnectionDocument | ChannelDocument>(
  kind: SecretHolder['kind'],
  collection: 'connections' | 'channels',
  document: D,
  resealFields: (document: D, reseal: ResealField) => Partial<D>,
  collectionOf: (collections: AdminCollections) => Collection<D>,
): SecretHolder {
  const { _id: id, project_id: projectId } = document
  return {
    kind,
    id,
    projectId,
    keyIds: keyIdsOf(visit => resealFields(document, visit)),
    reseal: (collections, secretBox, now) =>
      changeVersioned<D>(
        { now },
        {
          collection: collectionOf(collections),
          async find() {
            const found = await collectionOf(collections).find({ _id: id } as DocumentFilter<D>)
            if (found === undefined) throw notFound(kind, id)
            return found
          },
          what: `${kind} ${id}`,
          next: stored => resealFields(stored, resealWith(secretBox, { collection, id, projectId })),
        },
      ),
  }
}

type RewrapOutcome =
  | { readonly kind: 'rewrapped' }
  /** A concurrent change came first. The next call finds the document again. */
  | { readonly kind: 'lost_race' }
  | { readonly kind: 'unreadable'; readonly reason: string }

async function rewrap(
  holder: SecretHolder,
  { change, now }: Pick<RouteRequest<unknown, unknown, unknown>, 'change' | 'now'>,
  secretBox: SecretBox,
): Promise<RewrapOutcome> {
  try {
    await change(
      collections => holder.reseal(collections, secretBox, now),
      () => ({ action: `${holder.kind}.rewrap_secrets`, target: holder.id, projectId: holder.projectId }),
    )
    return { kind: 'rewrapped' }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.code === 'secret_unreadable') return { kind: 'unreadable', reason: error.message }
    if (error.code === 'conflict') return { kind: 'lost_race' }
    throw error
  }
}

/** The changed fields of a connection after each of its secrets was encrypted again. */
export function resealConnection(
  { inbound_secrets, read_key }: Pick<ConnectionDocument, 'inbound_secrets' | 'read_key'>,
  reseal: ResealField,
): Pick<ConnectionDocument, 'inbound_secrets' | 'read_key'> {
  return {
    inbound_secrets: inbound_secrets.map(secret => ({ ...secret, ...reseal(secret.sealed, 'inbound_secret') })),
    read_key: read_key === null ? null : { ...read_key, ...reseal(read_key.sealed, 'read_key') },
  }
}

/** The changed fields of an alert channel after each of its secrets was encrypted again. */
export function resealChannel(
  { config }: Pick<ChannelDocument, 'config'>,
  reseal: ResealField,
): Pick<ChannelDocument, 'config'> {
  return { config: resealConfig(config, reseal) }
}

/**
 * Decrypts a secret and encrypts it with the primary key.
 * @throws AppError `secret_unreadable` when it is called
 */
export function resealWith(box: SecretBox, place: Omit<SecretContext, 'field'>): ResealField {
  return (sealed, field) => {
    const context = { ...place, field }
    const secret = box.open(sealed, context)
    return { sealed: box.seal(secret, context), fingerprint: box.fingerprint(secret) }
  }
}

/**
 * The ids of the keys that encrypt the secrets of one document, one entry for each secret.
 * @param walk calls its argument with every secret of the document
 */
export function keyIdsOf(walk: (visit: ResealField) => void): string[] {
  const found: SealedSecret[] = []
  walk(sealed => {
    found.push(sealed)
    return { sealed, fingerprint: '' }
  })
  return found.map(sealed => keyIdOf(sealed) ?? 'unknown')
}
