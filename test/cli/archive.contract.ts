/** `backstop archive` against the management API and the reconciler's store, with runs that are killed at every step. */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import promises from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ArchiveFiles } from '../../packages/cli/src/archive/folder-files.ts'
import { type ArchivePorts, writeArchive } from '../../packages/cli/src/archive/write-archive.ts'
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

/** @param killedEvery 1 kills runs at every step, and also has the tests about files; 3 kills a run at every third step */
export function describeArchive(name: string, open: () => Promise<TestApi>, killedEvery: number): void {
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

  /** The ports of a process that dies at its nth step. A step is the moment before or after a call, or before a change of a file. */
  function dyingPorts(stepsLeft: number) {
    const { projects } = createClient({ baseUrl: address(), key: BOOTSTRAP_KEY })
    const step = () => {
      if (stepsLeft-- <= 0) throw new Error('killed')
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
    const files = Object.fromEntries(
      (['link', 'mkdir', 'open', 'rename', 'rm', 'writeFile'] as const).map(name => [
        name,
        async (...args: never[]) => {
          // The lock of a process that died is taken over in a test of its own.
          if (!(name === 'rm' && String(args[0]).endsWith('.lock'))) step()
          return (promises[name] as (...all: never[]) => Promise<unknown>)(...args)
        },
      ]),
    ) as unknown as ArchiveFiles
    const client = {
      projects: { exportArchive: whole(projects.exportArchive), removeArchived: whole(projects.removeArchived) },
    }
    const ports: ArchivePorts = { client, files, err: () => {}, sleep: async () => {} }
    return { ports, hasDied: () => stepsLeft < 0 }
  }

  type Prepared = Awaited<ReturnType<typeof prepare>>
  const write = (
    { projectId, directory }: Prepared,
    steps = Number.POSITIVE_INFINITY,
    before?: string,
    more: Partial<ArchivePorts> = {},
  ) => {
    const { ports, hasDied } = dyingPorts(steps)
    return writeArchive({ projectId, directory, before }, { ...ports, ...more }).then(
      written => written,
      error => {
        if (hasDied()) return undefined
        throw error
      },
    )
  }
  /** A run that dies before it asks for the removal of its first part. */
  const storeOnly = async (prepared: Prepared) => {
    const { projects } = dyingPorts(Number.POSITIVE_INFINITY).ports.client
    const removeArchived = () => Promise.reject(new Error('killed'))
    await expect(
      write(prepared, undefined, undefined, { client: { projects: { ...projects, removeArchived } } }),
    ).rejects.toThrow('killed')
  }
  const partsOf = ({ directory, projectId }: Prepared) =>
    (existsSync(join(directory, projectId)) ? readdirSync(join(directory, projectId)) : []).filter(file =>
      file.includes('.ndjson'),
    )
  const sumsOf = ({ directory, projectId }: Prepared) => readFileSync(join(directory, projectId, 'SHA256SUMS'), 'utf8')
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
      for (let hasDied = true; hasDied; steps += killedEvery) {
        const prepared = await prepare()
        hasDied = (await write(prepared, steps, '2024-02')) === undefined
        const archived = new Set(archivedIds(prepared))
        const listed = await listedIds(prepared)
        expect(prepared.old.filter(id => !archived.has(id) && !listed.includes(id))).toEqual([])
        // So that `verify` misses a part that is lost from now on.
        if (prepared.old.some(id => !listed.includes(id))) expect(sumsOf(prepared)).toContain('2024-01')
        await write(prepared)
        expect(archivedIds(prepared)).toEqual(prepared.old)
        expect(await listedIds(prepared)).toEqual([...prepared.kept].sort())
        expect(await countsOf(prepared)).toEqual(counted)
      }
      // A part, with two calls and the steps of its files.
      expect(steps).toBeGreaterThan(14)
    })

    test('a full disk keeps every action in the database until its part and sum are stored', async () => {
      const prepared = await prepare()
      const { files } = dyingPorts(Number.POSITIVE_INFINITY).ports
      const full = {
        ...files,
        writeFile: (path: string, ...rest: never[]) =>
          path.includes('SHA256SUMS')
            ? Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }))
            : (files.writeFile as (...all: unknown[]) => Promise<void>)(path, ...rest),
      } as ArchiveFiles
      await expect(write(prepared, undefined, undefined, { files: full })).rejects.toThrow('no space left')
      expect(await listedIds(prepared)).toEqual([...prepared.old, ...prepared.kept].sort())
      await write(prepared)
      expect(archivedIds(prepared)).toEqual(prepared.old)
    })

    test('a damaged part that was not finished must be kept, and no action of it is removed', async () => {
      const prepared = await prepare()
      await storeOnly(prepared)
      const path = join(prepared.directory, prepared.projectId, String(partsOf(prepared)[0]))
      expect(path).toMatch(/\.stored$/)
      const whole = readFileSync(path, 'utf8')
      writeFileSync(path, whole.replace('2499', '2498'))
      const fault = {
        message: expect.stringContaining('changed or damaged'),
        remedy: expect.stringContaining('never delete it'),
      }
      await expect(write(prepared)).rejects.toMatchObject(fault)
      expect(await listedIds(prepared)).toHaveLength(prepared.old.length + prepared.kept.length)
      // The same happens with a signature that no key of the service has made.
      writeFileSync(path, whole.replace(/"signature":"../, '"signature":"AA'))
      const unknown = { remedy: expect.stringMatching(/^Put the key \S+ back at the end of SECRET_KEYS/) }
      await expect(write(prepared)).rejects.toMatchObject(unknown)
      writeFileSync(path, whole)
      expect(await write(prepared)).toMatchObject({ parts: 3, actions: prepared.old.length })
    })

    test('show prints the version that was exported last, also after a restore of the database', async () => {
      const prepared = await prepare()
      const { old, put, directory } = prepared
      const id = String(old[4])
      const at = new Date('2024-03-10T10:04:00Z')
      await put('4', at, { version: 9, state: 'failed' })
      await write(prepared)
      testApi.advanceClock(1_000)
      await put('4', at, { version: 2, state: 'succeeded' })
      await write(prepared)
      const shown = await run('archive', 'show', directory, '--action', id, '--json')
      expect(JSON.parse(shown.out)).toMatchObject([{ version: 2, state: 'succeeded' }])
      const path = join(directory, prepared.projectId, String(partsOf(prepared)[0]))
      writeFileSync(path, readFileSync(path, 'utf8').replace('}\n', '\n'))
      expect(await run('archive', 'show', directory, '--action', String(old[0]))).toMatchObject({
        exit: 1,
        err: expect.stringMatching(/^\S+ is damaged/),
      })
    })

    test('an action that changes between export and removal stays, and is in a later part', async () => {
      const prepared = await prepare()
      const { projectId, directory, old, put } = prepared
      await storeOnly(prepared)
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
      const firstSeenAt = '2024-01-05T10:01:00.000Z'
      const save = (version: number, listing: ListingState, state: ActionDocument['state']) =>
        stores().projections.saveActions(
          [
            {
              action: {
                ...action,
                ...known,
                first_seen_at: firstSeenAt,
                action_id: id,
                incident_id: null,
                version,
                state,
              },
              mergedInto: null,
              lookResult: undefined,
              isDecided: false,
              listing,
            },
          ],
          testApi.now(),
        )
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

    test('removes nothing that this installation did not export', async () => {
      const prepared = await prepare()
      const { projectId, directory, old } = prepared
      await storeOnly(prepared)
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

    if (killedEvery > 1) return
    // The rest is about files, whichever database the actions come from.
    test('a second run in the same folder is refused, and the lock of a process that ended is taken over', async () => {
      const prepared = await prepare()
      const lock = join(prepared.directory, prepared.projectId, '.lock')
      let second: Promise<unknown> | undefined
      const first = await write(prepared, undefined, undefined, {
        err: () => (second ??= write(prepared).catch(String)),
      })
      expect(await second).toMatch(/Another run writes to this folder/)
      expect(first).toMatchObject({ parts: 3 })
      expect(existsSync(lock)).toBe(false)
      const { pid } = spawnSync(process.execPath, ['--version'])
      writeFileSync(lock, `${pid} another-host`)
      await expect(write(prepared)).rejects.toThrow(`Another run writes to this folder: ${pid} another-host`)
      writeFileSync(lock, `${pid} ${hostname()}`)
      expect(await write(prepared)).toMatchObject({ parts: 0 })
      expect(readdirSync(dirname(lock)).filter(file => file.includes('lock'))).toEqual([])
    })

    test('only the owner reads the files, and a lost SHA256SUMS is written again', async () => {
      const prepared = await prepare()
      await write(prepared)
      const folder = join(prepared.directory, prepared.projectId)
      const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
      rmSync(join(folder, 'SHA256SUMS'))
      await write(prepared)
      expect(readFileSync(join(folder, 'SHA256SUMS'), 'utf8')).toBe(sums)
      const modes = readdirSync(folder).map(file => statSync(join(folder, file)).mode & 0o777)
      expect([statSync(folder).mode & 0o777, ...new Set(modes)]).toEqual([0o700, 0o600])
    })

    test('waits longer each time for the removal, and says after two minutes that the part must be kept', async () => {
      const prepared = await prepare()
      const { projects } = createClient({ baseUrl: address(), key: BOOTSTRAP_KEY })
      const pauses: number[] = []
      const sleep = async (ms: number) => void pauses.push(ms)
      const fault = {
        message: expect.stringContaining('two minutes'),
        remedy: expect.stringContaining('never delete it'),
      }
      await expect(write(prepared, undefined, undefined, { client: { projects }, sleep })).rejects.toMatchObject(fault)
      expect(pauses.slice(0, 6)).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000])
    })

    test('refuses an id that is no id of a project, before it makes a folder', async () => {
      const directory = mkdtempSync(join(root, 'archive-'))
      const { ports } = dyingPorts(Number.POSITIVE_INFINITY)
      await expect(writeArchive({ directory, projectId: '../prj_1' }, ports)).rejects.toThrow('no id of a project')
      expect(readdirSync(directory)).toEqual([])
    })

    test('verify refuses a directory without parts, and finds that only SHA256SUMS is left', async () => {
      const prepared = await prepare()
      const { directory, projectId } = prepared
      const verify = (folder: string) => run('archive', 'verify', folder, '--public-key', publicKey)
      expect(await verify(directory)).toMatchObject({ exit: 1, err: expect.stringContaining('No part of an archive') })
      await write(prepared)
      const copy = join(mkdtempSync(join(root, 'archive-')), 'prj_other')
      mkdirSync(copy)
      for (const file of readdirSync(join(directory, projectId))) {
        writeFileSync(join(copy, file), readFileSync(join(directory, projectId, file)))
      }
      expect(await verify(copy)).toMatchObject({ exit: 1, err: expect.stringContaining('folder of another project') })
      for (const part of partsOf(prepared)) rmSync(join(directory, projectId, part))
      for (const folder of [directory, join(directory, projectId)]) {
        expect(await verify(folder)).toMatchObject({ exit: 1, err: expect.stringMatching(/2024-01\S+ is missing/) })
      }
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
  })
}
