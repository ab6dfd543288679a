import { Skeleton, Stack } from '@mantine/core'

/** The shape of a table or of facts that are being read: a line for each row, at the height of a row. */
export function SkeletonLines({ count = 6 }: { count?: number }) {
  return (
    <Stack gap={28} py={14} w="min(100%, 720px)" role="presentation">
      {Array.from({ length: count }, (_, at) => at).map(at => (
        <Skeleton key={at} height={12} width={at % 2 === 0 ? '70%' : '55%'} />
      ))}
    </Stack>
  )
}
