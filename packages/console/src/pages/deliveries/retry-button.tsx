import type { Delivery } from '@backstop/client'
import { Button, Tooltip } from '@mantine/core'
import { deliveryQuery } from '../../api/channels.ts'
import { api, useWrite } from '../../api/client.ts'

/** True if the API attempts the delivery again on request. */
function canRetry({ state, test }: Delivery): boolean {
  return !test && (state === 'dead' || state === 'retrying' || state === 'pending')
}

/** Attempts a delivery now. Its outcome arrives as a live event, sometimes before the answer to the request. */
export function RetryButton({ delivery }: { delivery: Delivery }) {
  const { delivery_id, attempts } = delivery
  const retry = useWrite(() => api.deliveries.retry(delivery_id), { refresh: [deliveryQuery(delivery_id).queryKey] })
  if (!canRetry(delivery)) return null
  const isRequested = retry.data?.attempts.length === attempts.length
  return (
    <Tooltip label={retry.error?.message} disabled={retry.error === null} multiline maw={320}>
      <Button
        size="compact-xs"
        variant="default"
        disabled={isRequested}
        loading={retry.isPending}
        onClick={event => {
          event.preventDefault()
          event.stopPropagation()
          retry.mutate()
        }}
      >
        {retry.error !== null ? 'Refused' : isRequested ? 'Requested' : 'Retry'}
      </Button>
    </Tooltip>
  )
}
