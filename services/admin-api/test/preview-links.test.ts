import { expect, test } from 'vitest'
import { startMemoryApi } from './test-api.ts'

test('a preview has no button to the console if the installation has none, as in real messages', async () => {
  const testApi = await startMemoryApi()
  try {
    for (const kind of ['email', 'slack', 'teams', 'discord', 'pagerduty']) {
      const { body } = await testApi.api.get(`/v1/previews?kind=${kind}&format=json`)
      expect({ kind, text: JSON.stringify(body) }).not.toMatchObject({
        text: expect.stringMatching(/Open in the console|console\.example/),
      })
    }
  } finally {
    await testApi.stop()
  }
})

test('a preview has the button to the console of the installation', async () => {
  const testApi = await startMemoryApi({ consolePublicUrl: 'https://console.acme.test' })
  try {
    for (const kind of ['email', 'slack', 'teams', 'discord', 'pagerduty']) {
      const { body } = await testApi.api.get(`/v1/previews?kind=${kind}&format=json`)
      expect({ kind, text: JSON.stringify(body) }).toMatchObject({
        text: expect.stringContaining('https://console.acme.test/'),
      })
    }
  } finally {
    await testApi.stop()
  }
})
