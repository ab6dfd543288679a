/** `backstop archive` against the management API and the reconciler's store, with runs that are killed at every step. */
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeArchive } from '../../packages/cli/src/archive/write-archive.ts'
import { runCommandLine } from '../../packages/cli/src/command-line.ts'
import { action } from '../../packages/cli/test/api-stand-in.ts'
import { createClient } from '../../packages/client/src/index.ts'
import {
  type ActionDocument,
  type ArchivedActionDocument,
  searchKeysOfAction,
} from '../../packages/contracts/src/index.ts'
import type { Mongo } from '../../packages/kit/src/mongo/index.ts'
import type { ListingState } from '../../packages/verdict/src/index.ts'
import { createTestKey, createTestProject } from '../../services/admin-api/test/contract/test-project.ts'
import { BOOTSTRAP_KEY, type TestApi } from '../../services/admin-api/test/test-api.ts'
import { openStores } from '../../services/reconciler/src/stores.ts'

const DAY_MS = 86_400_000
const OLD = { explained: ['2024-01-05', '2024-01-05', '2024-01-31', '2024-02-01', '2024-03-10'] }

export function describeArchive(name: string, open: () => Promise<TestApi>): void {
  let testApi: TestApi
  let root = ''
  let publicKey = ''
  const address = () => `http://127.0.0.1:${testApi.app.port()}`
  const stores = () => openStores({ db: testApi.stores.db, client: testApi.stores.db.client } as Mongo)

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'backstop-archive-'))
    testApi = await open()
    publicKey = join(root, 'audit.pem')
    writeFileSync(publicKey, (await run('audit', 'public-key')).out)
  })
  afterAll(async () => {
    await testApi?.stop()
    rmSync(root, { recursive: true, force: true })
  })

  async function run(...args: readonly string[]) {
    const [out, err]: [string[], string[]] = [[], []]
    const exit = await runCommandLine(args, {
      environment: { BACKSTOP_URL: address(), BACKSTOP_API_KEY: BOOTSTRAP_KEY, HOME: root },
      folder: root,
      out: text => out.push(text),
      err: text => err.push(text),
      readInput: async () => '',
      isTerminal: false,
      operator: 'ada@laptop',
      now: Date.now,
    })
    return { exit, out: out.join(''), err: err.join('') }
  }

  /** A project with old and young actions, and a directory for its archive. */
  async function prepare() {
    const { projectId, processorId } = await createTestProject(testApi.api)
    const put = async (id: string, at: Date, more: Partial<ActionDocument> = {}) => {
      const { action_id: _, ...fields } = action
      const of = {
        project_id: projectId,
        connection_id: processorId,
        connection_ids: [processorId],
        subject: `pi_${id}`,
      }
      const times = { first_seen_at: at.toISOString(), provider_created_at: at.toISOString() }
      const explained = { verdict: 'explained', reason: 'provider_ref_matches', incident_id: null } as const
      const whole = { ...fields, ...of, ...times, ...explained, provider_ref: `re_${id}`, ...more }
      const _id = `act_${id}_${projectId.slice(4)}`
      await testApi.others.actions.put({ ...whole, _id, first_seen: at, search: searchKeysOfAction(whole) })
      return _id
    }
    const old: string[] = []
    for (const [index, day] of OLD.explained.entries())
      old.push(await put(String(index), new Date(`${day}T10:0${index}:00Z`)))
    const at = new Date('2024-01-05T12:00:00Z')
    const kept = [
      await put('unexplained', at, { verdict: 'unexplained', reason: 'nothing_explains_it', incident_id: 'inc_1' }),
      await put('resolved', at, { incident_id: 'inc_2' }),
      await put('young', new Date(testApi.now() - 399 * DAY_MS)),
    ]
    return { projectId, connectionId: processorId, directory: mkdtempSync(join(root, 'archive-')), old, kept, put }
  }

  /** The reconciler carries out the commands that were published so far. */
  async function reconcile() {
    const { archivedActions } = stores()
    for (const command of testApi.commands) {
      if (command.kind === 'archive_actions') {
        await archivedActions.archive(command.project_id, command.actions, testApi.now())
      }
    }
  }

  /** A client whose process dies at its nth step. A step is the moment before or after a call. */
  function dyingClient(stepsLeft: number) {
    const { projects } = createClient({ baseUrl: address(), key: BOOTSTRAP_KEY })
    const step = () => {
      if (stepsLeft-- === 0) throw new Error('killed')
    }
    const whole =
      <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) =>
      async (...args: Args): Promise<T> => {
        step()
        const answer = await call(...args)
        step()
        await reconcile()
        return answer
      }
    return {
      projects: { exportArchive: whole(projects.exportArchive), removeArchived: whole(projects.removeArchived) },
      hasDied: () => stepsLeft < 0,
    }
  }

  type Prepared = Awaited<ReturnType<typeof prepare>>
  const write = ({ projectId, directory }: Prepared, steps = Number.POSITIVE_INFINITY, before?: string) => {
    const client = dyingClient(steps)
    return writeArchive({ projectId, directory, before }, { client, err: () => {} }).then(
      written => written,
      error => {
        if (client.hasDied()) return undefined
        throw error
      },
    )
  }
  const partsOf = ({ directory, projectId }: Prepared) =>
    readdirSync(join(directory, projectId)).filter(file => file.includes('.ndjson'))
  const archivedIds = (prepared: Prepared) =>
    partsOf(prepared).flatMap(file =>
      readFileSync(join(prepared.directory, prepared.projectId, file), 'utf8')
        .split('\n')
        .filter(line => line.includes('action_id'))
        .map(line => JSON.parse(line).action_id as string),
    )
  const listedIds = async ({ projectId }: Prepared) =>
    (await testApi.api.get(`/v1/actions?project_id=${projectId}&limit=100`)).body.data
      .map((one: { action_id: string }) => one.action_id)
      .sort()
  const countsOf = ({ connectionId }: Prepared) =>
    Promise.all([...new Set(OLD.explained)].map(day => stores().totals.count({ connectionId, day: Date.parse(day) })))

  describe(`backstop archive, ${name}`, () => {
    test('moves old explained actions into a file for each month, and leaves all others', async () => {
      const prepared = await prepare()
      const { projectId, directory, old, kept } = prepared
      expect(await write(prepared)).toMatchObject({ parts: 3, actions: old.length })
      expect(archivedIds(prepared)).toEqual(old)
      expect(partsOf(prepared).map(file => file.slice(0, 7))).toEqual(['2024-01', '2024-02', '2024-03'])
      expect(await listedIds(prepared)).toEqual([...kept].sort())
      const verified = await run('archive', 'verify', directory, '--public-key', publicKey)
      expect(verified).toEqual({ exit: 0, err: '', out: `3 parts with ${old.length} actions: unchanged\n` })
      const rows = await testApi.stores.audit.findAll({ project_id: projectId, action: 'archive.remove' })
      expect(rows.map(({ changes }) => changes?.find(({ field }) => field === 'month')?.to).sort()).toEqual([
        '2024-01',
        '2024-02',
        '2024-03',
      ])
      expect(await write(prepared)).toMatchObject({ parts: 0, actions: 0 })
    })

    test('--before leaves the later months', async () => {
      const prepared = await prepare()
      await write(prepared, undefined, '2024-02')
      expect(archivedIds(prepared)).toEqual(prepared.old.slice(0, 3))
    })

    test('a run that is killed at any step loses no action and stores none twice', async () => {
      const reference = await prepare()
      const counted = await countsOf(reference)
      let steps = 0
      for (let hasDied = true; hasDied; steps++) {
        const prepared = await prepare()
        hasDied = (await write(prepared, steps)) === undefined
        const archived = new Set(archivedIds(prepared))
        const listed = await listedIds(prepared)
        expect(prepared.old.filter(id => !archived.has(id) && !listed.includes(id))).toEqual([])
        await write(prepared)
        expect(archivedIds(prepared)).toEqual(prepared.old)
        expect(await listedIds(prepared)).toEqual([...prepared.kept].sort())
        expect(await countsOf(prepared)).toEqual(counted)
      }
      // Three parts and an empty one, each with two calls, and two steps for each call.
      expect(steps).toBeGreaterThan(12)
    })

    test('an action that changes between export and removal stays, and is in a later part', async () => {
      const prepared = await prepare()
      const { projectId, directory, old, put } = prepared
      // Killed after the first part was stored.
      await write(prepared, 2)
      const changedAt = new Date('2024-01-05T10:00:00Z')
      await put('0', changedAt, { version: 3, state: 'failed' })
      await write(prepared)
      expect(archivedIds(prepared).sort()).toEqual([...old, old[0]].sort())
      const shown = await run('archive', 'show', directory, '--action', String(old[0]), '--json')
      expect(JSON.parse(shown.out)).toMatchObject([
        { action_id: old[0], version: 3, state: 'failed', project_id: projectId },
      ])
    })

    test('a case that is decided again lists its archived action only if that changed, and it counts once', async () => {
      const prepared = await prepare()
      const { kept, old } = prepared
      await write(prepared)
      const id = String(old[1])
      const { archived_at: _at, ...known } = (await testApi.stores.archivedActions.find({
        _id: id,
      })) as ArchivedActionDocument
      const save = (version: number, listing: ListingState, state: ActionDocument['state']) =>
        stores().projections.saveActions([
          {
            action: { ...action, ...known, action_id: id, incident_id: null, version, state },
            mergedInto: null,
            lookResult: undefined,
            isDecided: false,
            listing,
          },
        ])
      const statesOf = async () => (await countsOf(prepared))[0]?.totals.map(({ state, count }) => [state, count])
      await save(known.version, 'current', 'succeeded')
      expect(await listedIds(prepared)).toEqual([...kept].sort())
      expect(await statesOf()).toEqual([
        ['succeeded', 3],
        ['succeeded', 1],
      ])
      await save(9, 'outdated', 'failed')
      expect(await listedIds(prepared)).toEqual([id, ...kept].sort())
      const changed = [
        ['failed', 1],
        ['succeeded', 2],
        ['succeeded', 1],
      ]
      expect(await statesOf()).toEqual(changed)
      const first = new Date('2024-01-05T10:01:00Z')
      await testApi.others.actions.change({ _id: id }, { first_seen: first, first_seen_at: first.toISOString() })
      expect(await write(prepared)).toMatchObject({ parts: 1, actions: 1 })
      expect(await statesOf()).toEqual(changed)
      const shown = await run('archive', 'show', prepared.directory, '--action', id, '--json')
      expect(JSON.parse(shown.out)).toMatchObject([{ version: 9, state: 'failed' }])
    })

    test('show finds by payment and by id at the provider, and the API says where an archived action is', async () => {
      const prepared = await prepare()
      await write(prepared)
      const { directory, old } = prepared
      expect((await run('archive', 'show', directory, '--subject', 'pi_3')).out).toContain(String(old[3]))
      expect((await run('archive', 'show', directory, '--provider-ref', 're_4')).out).toContain(String(old[4]))
      expect(await run('archive', 'show', directory, '--subject', 'pi_9')).toMatchObject({ exit: 3 })
      expect(await run('archive', 'show', directory)).toMatchObject({ exit: 2 })
      const answer = await testApi.api.get(`/v1/actions/${old[3]}`)
      expect(answer).toMatchObject({
        status: 404,
        body: { detail: expect.stringContaining('backstop archive show --action') },
      })
      const { projectId: other } = await createTestProject(testApi.api)
      const key = await createTestKey(testApi.api, ['read'], other)
      const hidden = await testApi.api.withKey(key).get(`/v1/actions/${old[3]}`)
      expect(hidden).toMatchObject({ status: 404, body: { detail: `There is no action ${old[3]}` } })
    })

    const damages: Record<string, { readonly harm: (path: string) => void; readonly says: RegExp }> = {
      'a changed line': {
        harm: path => writeFileSync(path, readFileSync(path, 'utf8').replace('2499', '2498')),
        says: /other lines than those that were signed/,
      },
      'a statement of another': {
        harm: path => writeFileSync(path, readFileSync(path, 'utf8').replace('"actions":3', '"actions":2')),
        says: /no valid signature/,
      },
      'a part that is cut off': {
        harm: path => writeFileSync(path, readFileSync(path, 'utf8').slice(0, -30)),
        says: /no valid signature/,
      },
      'a missing part': { harm: path => rmSync(path), says: /is missing/ },
      'a renamed part': { harm: path => renameSync(path, path.replace('2024-01', '2023-01')), says: /is missing/ },
      'another sum': {
        harm: path => appendFileSync(join(path, '..', 'SHA256SUMS'), `${'0'.repeat(64)}  2023-12.arc_1.ndjson\n`),
        says: /2023-12\.arc_1\.ndjson is missing/,
      },
    }
    test.each(Object.keys(damages))('verify finds %s', async damage => {
      const prepared = await prepare()
      await write(prepared)
      const { directory, projectId } = prepared
      const { harm, says } = damages[damage]!
      harm(join(directory, projectId, String(partsOf(prepared)[0])))
      const { exit, err } = await run('archive', 'verify', directory, '--public-key', publicKey)
      expect({ exit, err }).toEqual({ exit: 1, err: expect.stringMatching(says) })
    })

    test('removes nothing that this installation did not export', async () => {
      const prepared = await prepare()
      const { projectId, directory, old } = prepared
      await write(prepared, 2)
      const path = join(directory, projectId, String(partsOf(prepared)[0]))
      const { statement, signature } = JSON.parse(readFileSync(path, 'utf8').trim().split('\n').at(-1) ?? '')
      const actions = old.slice(0, 3).map(action_id => ({ action_id, version: 2 }))
      const post = (body: object, project = projectId) => testApi.api.post(`/v1/projects/${project}/archive`, body)
      const { projectId: other } = await createTestProject(testApi.api)
      const refused = [
        await post({ statement: { ...statement, actions: 2 }, signature, actions }),
        await post({ statement, signature, actions: actions.slice(1) }),
        await post({ statement, signature, actions: [...actions, { action_id: old[4], version: 2 }] }),
        await post({ statement, signature, actions }, other),
      ]
      expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400])
      const key = await createTestKey(testApi.api, ['read', 'manage'], projectId)
      expect((await testApi.api.withKey(key).get(`/v1/projects/${projectId}/archive`)).status).toBe(403)
      expect(await post({ statement, signature, actions })).toMatchObject({ status: 202, body: { waiting: 3 } })
    })
  })
}
