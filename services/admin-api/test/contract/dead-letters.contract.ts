import type { Command } from '@backstop/contracts'
import { createFixedCodec } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { storeDeadLetter } from './every-route.ts'
import { createTestKey, createTestProject } from './test-project.ts'

export function describeDeadLetters(testApi: () => TestApi): void {
  const api = () => testApi().api
  const listed = async (id: string) =>
    (await api().get('/v1/dead-letters?limit=200')).body.data.find(
      (one: { dead_letter_id: string }) => one.dead_letter_id === id,
    )

  describe('a dead letter', () => {
    test('is listed with its reason and without its content', async () => {
      const id = await storeDeadLetter(testApi(), 'listed')
      expect(await listed(id)).toEqual({
        dead_letter_id: id,
        topic: 'commands',
        key: 'x',
        bytes: 'nonsense'.length,
        reason_code: 'message_invalid',
        reason: 'The message is not framed',
        parked_at: '2026-11-21T10:00:00.000Z',
      })
    })

    test('is published unchanged to its original topic', async () => {
      const { projectId } = await createTestProject(api())
      const command: Command = {
        kind: 'enable_channel',
        command_id: `cmd_${projectId}`,
        project_id: projectId,
        requested_at: '2026-11-21T10:00:00.000Z',
        channel_id: 'chn_1',
      }
      // A message with a schema id that was unknown when it was dead-lettered.
      const value = createFixedCodec().encode('command', command).toString('base64')
      const id = await storeDeadLetter(testApi(), `again of ${projectId}`, { value, key: 'chn_1' })
      const answer = await api().post(`/v1/dead-letters/${encodeURIComponent(id)}/replay`)
      expect(answer).toMatchObject({ status: 202, body: { dead_letter_id: id } })
      await expect
        .poll(() => testApi().commands.filter(({ command_id }) => command_id === command.command_id), {
          timeout: 10_000,
        })
        .toEqual([command])
    })

    test('can be neither seen nor replayed with a key of one project', async () => {
      const { projectId } = await createTestProject(api())
      const id = await storeDeadLetter(testApi(), 'of nobody')
      const friend = api().withKey(await createTestKey(api(), ['admin'], projectId))
      expect((await friend.get('/v1/dead-letters')).body).toEqual({ data: [], next_cursor: null })
      const path = `/v1/dead-letters/${encodeURIComponent(id)}/replay`
      expect((await friend.post(path)).status).toBe(404)
      expect((await api().post('/v1/dead-letters/dlt_unknown/replay')).status).toBe(404)
    })
  })
}
