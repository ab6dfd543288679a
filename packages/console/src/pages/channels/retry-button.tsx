import type { Delivery } from '@backstop/client'
import { Button, Tooltip } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { deliveryQuery } from '../../api/deliveries.ts'

/** True if the API attempts the delivery again on request. */
function canRetry({ state, test }: Delivery): boolean {
  return !test && (state === 'dead' || state === 'retrying' || state === 'pending')
}

/** Attempts a delivery now. Its outcome arrives as a live event, sometimes before the answer to the request. */
export function RetryButton({ delivery }: { delivery: Delivery }) {
  const queryClient = useQueryClient()
  const retry = useMutation({
    mutationFn: () => api.deliveries.retry(delivery.delivery_id),
    onSuccess: ({ delivery_id }) => queryClient.invalidateQueries(deliveryQuery(delivery_id)),
  })
  if (!canRetry(delivery)) return null
  const isRequested = retry.data?.attempts.length === delivery.attempts.length
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
