import type { ChannelTestResult } from '@backstop/client'
import { Button, CloseButton, Group } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api } from '../../api/client.ts'
import { Problem } from '../../parts/page/index.ts'
import { Badge, LongText } from '../../parts/show/index.ts'
import classes from './channel.module.css'

/** The API waits up to 25 s for the receiver. */
const TIMEOUT_MS = 30_000

/** Sends a test message and shows what the receiver answered. */
export function ChannelTest({ channelId, onClose }: { channelId: string; onClose: () => void }) {
  const queryClient = useQueryClient()
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['channels', 'test', channelId],
    queryFn: ({ signal }) => api.alertChannels.test(channelId, { signal, timeoutMs: TIMEOUT_MS }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  useEffect(() => {
    if (data !== undefined) void queryClient.invalidateQueries({ queryKey: ['deliveries', 'list'] })
  }, [data, queryClient])
  return (
    <section className={classes.result} aria-label="Test" aria-live="polite">
      <Group gap={12}>
        {isFetching ? (
          <Badge tone="waits">Waiting for the answer of the receiver…</Badge>
        ) : (
          data !== undefined && <Outcome result={data} />
        )}
        <span style={{ flex: 1 }} />
        {!isFetching && (
          <Button variant="default" onClick={() => void refetch()}>
            Test again
          </Button>
        )}
        <CloseButton aria-label="Close the test" onClick={onClose} />
      </Group>
      {error !== null && !isFetching && <Problem error={error} what="The test was not sent" />}
      {data !== undefined && !isFetching && data.error !== undefined && <p dir="auto">{data.error}</p>}
      {data !== undefined && !isFetching && data.response !== null && data.response !== '' && (
        <LongText dir="auto" text={data.response} height={280} />
      )}
    </section>
  )
}

function Outcome({ result: { delivered, status, latency_ms } }: { result: ChannelTestResult }) {
  const words = [
    delivered ? 'The test arrived' : 'The test did not arrive',
    status === null ? 'no answer' : `answer ${status}`,
    ...(latency_ms === null ? [] : [`after ${latency_ms} ms`]),
  ]
  return <Badge tone={delivered ? 'good' : 'alarm'}>{words.join(', ')}</Badge>
}
