export const deliveries = ['message', 'url'] as const;
/** How the editor gets its token: the words of the attribute `token-delivery`. */
export type Delivery = (typeof deliveries)[number];

const KEY = 'larder-delivery';

export function savedDelivery(): Delivery {
  const saved = localStorage.getItem(KEY);
  return deliveries.find((delivery) => delivery === saved) ?? 'message';
}

export function saveDelivery(delivery: Delivery): void {
  localStorage.setItem(KEY, delivery);
}
